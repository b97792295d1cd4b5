package io.zrecord.storage.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.zrecord.storage.Storage;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import software.amazon.awssdk.services.s3.S3Client;

/** A server whose answers a test writes. Remembers all requests. */
final class ScriptedServer implements AutoCloseable {
  /**
   * A request.
   *
   * @param target path with the query
   */
  @SuppressWarnings("ArrayRecordComponent") // Never compared
  record Request(String method, String target, Map<String, List<String>> headers, byte[] body) {
    /** Returns the value of a header; empty if there is none. */
    String header(String name) {
      return headers.entrySet().stream()
          .filter(header -> header.getKey().equalsIgnoreCase(name))
          .map(header -> header.getValue().get(0))
          .findFirst()
          .orElse("");
    }

    boolean is(String wanted) {
      return method.equals(wanted);
    }
  }

  /**
   * An answer.
   *
   * @param status of HTTP; 0 to close the connection instead
   * @param toldBytes length that the answer says it has
   */
  @SuppressWarnings("ArrayRecordComponent") // Never compared
  record Answer(int status, Map<String, String> headers, byte[] body, int toldBytes) {
    static Answer of(int status, String body) {
      return new Answer(status, Map.of(), body.getBytes(UTF_8), body.getBytes(UTF_8).length);
    }

    static Answer error(int status, String code) {
      return of(status, "<Error><Code>" + code + "</Code><Message>says the test</Message></Error>");
    }

    /** An answer that breaks off, or none at all. */
    static Answer dropped() {
      return new Answer(0, Map.of(), new byte[0], 0);
    }

    Answer with(String name, String value) {
      Map<String, String> more = new java.util.HashMap<>(headers);
      more.put(name, value);
      return new Answer(status, more, body, toldBytes);
    }

    Answer telling(int bytes) {
      return new Answer(status, headers, body, bytes);
    }
  }

  /** Connections that wait; more than the clients of any test open at once. */
  private static final int BACKLOG = 500;

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Request> requests = new CopyOnWriteArrayList<>();
  private final S3Client client;

  /** Starts a server that answers with what a function returns, and is asked five times. */
  ScriptedServer(Function<Request, Answer> script) throws IOException {
    this(1, script);
  }

  /** Starts a server that is asked again for about some time. */
  ScriptedServer(int retrySeconds, Function<Request, Answer> script) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
    server.setExecutor(threads);
    server.createContext("/", exchange -> answer(exchange, script));
    server.start();
    client = S3Clients.create(S3Options.parse(Map.of(
        "endpoint",
        endpoint(),
        "anonymous",
        "true",
        "retrySeconds",
        String.valueOf(retrySeconds))));
  }

  private void answer(HttpExchange exchange, Function<Request, Answer> script) throws IOException {
    try (exchange) {
      Request request = new Request(
          exchange.getRequestMethod(),
          exchange.getRequestURI().toString(),
          exchange.getRequestHeaders(),
          exchange.getRequestBody().readAllBytes());
      requests.add(request);
      Answer answer = script.apply(request);
      if (answer.status() == 0) {
        return;
      }
      answer.headers().forEach((name, value) -> exchange.getResponseHeaders().add(name, value));
      boolean isEmpty = request.is("HEAD") || answer.toldBytes() == 0;
      exchange.sendResponseHeaders(answer.status(), isEmpty ? -1 : answer.toldBytes());
      if (!isEmpty) {
        OutputStream body = exchange.getResponseBody();
        body.write(answer.body());
        body.flush();
      }
    }
  }

  String endpoint() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  S3Client client() {
    return client;
  }

  /**
   * Returns a new storage in the bucket {@code b}, of which nothing is known. However slow the
   * machine is, no read is asked twice.
   */
  Storage storage() {
    HedgedReads patient = new HedgedReads(Duration.ofDays(1));
    return new S3Storage(
        S3Location.parse("s3://b/data"),
        new S3Connection(client, patient, ConcurrentHashMap.newKeySet()));
  }

  /** Returns the requests so far. */
  List<Request> requests() {
    return requests;
  }

  @Override
  public void close() {
    client.close();
    server.stop(0);
    threads.shutdownNow();
  }
}
