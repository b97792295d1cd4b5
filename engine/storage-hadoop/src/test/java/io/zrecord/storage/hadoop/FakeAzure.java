package io.zrecord.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.zrecord.storage.Storage;
import io.zrecord.storage.hadoop.AzureContainer.Entry;
import io.zrecord.storage.hadoop.AzureContainer.RefusedException;
import io.zrecord.testing.HttpRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.ssl.DelegatingSSLSocketFactory;
import org.apache.hadoop.security.ssl.DelegatingSSLSocketFactory.SSLChannelMode;

/**
 * A server that answers what ABFS asks of an account of Azure with or without a hierarchical
 * namespace. Has one container, which every account shares. Believes every signature. Thread-safe.
 */
final class FakeAzure implements AutoCloseable {
  /** The key of every account. */
  static final String KEY =
      Base64.getEncoder().encodeToString("a key that is good for nothing at all".getBytes(UTF_8));

  /** Most names that are listed at once. */
  private static final int PAGE = 5;

  private static final DateTimeFormatter DATES =
      DateTimeFormatter.RFC_1123_DATE_TIME.withZone(ZoneOffset.UTC);

  private final AzureContainer container = new AzureContainer();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpServer server;
  private final boolean isFlat;
  private volatile boolean isTargetFirst;

  private FakeAzure(boolean isFlat) throws IOException {
    // Otherwise each answer waits for 40 ms.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    // ABFS does so only before it speaks TLS, and its client asks for it in any case.
    DelegatingSSLSocketFactory.initializeDefaultFactory(SSLChannelMode.Default_JSSE);
    this.isFlat = isFlat;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  /** Starts a server whose accounts have a hierarchical namespace. */
  static FakeAzure hierarchical() throws IOException {
    return new FakeAzure(false);
  }

  /** Starts a server whose accounts have no hierarchical namespace. */
  static FakeAzure flat() throws IOException {
    return new FakeAzure(true);
  }

  /** Answers a rename by its condition if its source is missing too, as if that came first. */
  void lookAtTargetsFirst() {
    isTargetFirst = true;
  }

  /** Returns where the server is reached. */
  URI endpoint() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Returns the URI of the container. File systems are kept for each URI. */
  static String container(URI endpoint) {
    return "abfs://train@" + host(endpoint);
  }

  private static String host(URI endpoint) {
    return "port" + endpoint.getPort() + ".dfs.core.windows.net";
  }

  /** Returns what ABFS needs to reach a server, or a proxy before one, at an endpoint. */
  static Configuration settings(URI endpoint) {
    Configuration settings = new Configuration();
    settings.set("fs.azure.abfs.endpoint", endpoint.getHost() + ":" + endpoint.getPort());
    settings.set("fs.azure.always.use.https", "false");
    settings.set("fs.azure.account.key." + host(endpoint), KEY);
    settings.set("fs.azure.io.retry.max.retries", "2");
    settings.set("fs.azure.io.retry.min.backoff.interval", "1");
    settings.set("fs.azure.io.retry.max.backoff.interval", "2");
    settings.set("fs.azure.io.retry.backoff.interval", "1");
    settings.set("fs.azure.static.retry.interval", "1");
    return settings;
  }

  /** Opens a storage by ABFS that reaches a server, or a proxy before one, at an endpoint. */
  static Storage storage(URI endpoint, String directory) {
    return HadoopStorage.at(container(endpoint) + "/" + directory, settings(endpoint));
  }

  /** Tells whether a request gives a file another name. */
  static boolean isRename(HttpRequest request) {
    return request.method().equals("PUT")
        && !request.target().contains("action=")
        && !request.target().contains("resource=");
  }

  /** Tells whether a request makes an empty file. */
  static boolean isCreation(HttpRequest request) {
    return request.method().equals("PUT") && request.target().contains("resource=file");
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      try {
        if (!header(exchange, "Authorization").startsWith("SharedKey port")) {
          throw new RefusedException(403, "AuthenticationFailed");
        }
        answer(exchange, body);
      } catch (RefusedException e) {
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.getResponseHeaders().set("x-ms-error-code", e.code);
        send(
            exchange,
            e.status,
            "{\"error\":{\"code\":\"" + e.code + "\",\"message\":\"" + e.code + ".\"}}");
      }
    }
  }

  private void answer(HttpExchange exchange, byte[] body) throws IOException, RefusedException {
    Map<String, String> query = query(exchange.getRequestURI().getRawQuery());
    String path = exchange.getRequestURI().getRawPath();
    String name = trimmed(decoded(path).replaceFirst("^/[^/]+/[^/]+", ""));
    String method = header(exchange, "X-HTTP-Method-Override");
    switch (method.isEmpty() ? exchange.getRequestMethod() : method) {
      case "HEAD" -> head(exchange, name, query);
      case "GET" -> {
        if (query.containsKey("resource")) {
          list(exchange, query);
        } else {
          read(exchange, name);
        }
      }
      case "PUT" -> put(exchange, name, query);
      case "PATCH" -> patch(exchange, name, query, body);
      case "DELETE" -> {
        boolean isRecursive = query.getOrDefault("recursive", "").equals("true");
        if (container.delete(name, isRecursive)) {
          exchange.getResponseHeaders().set("x-ms-continuation", "more");
        }
        send(exchange, 200, "");
      }
      default -> throw new RefusedException(405, "UnsupportedHttpVerb");
    }
  }

  private void head(HttpExchange exchange, String name, Map<String, String> query)
      throws IOException, RefusedException {
    if (query.getOrDefault("action", "").equals("getAccessControl") && isFlat) {
      throw new RefusedException(400, "FilesystemNotHierarchical");
    }
    if (!name.isEmpty()) {
      Entry found = container.status(name);
      describe(exchange, found);
      exchange.getResponseHeaders().set("Content-Length", "" + found.content().length);
    }
    send(exchange, 200, "");
  }

  private static void describe(HttpExchange exchange, Entry entry) {
    var headers = exchange.getResponseHeaders();
    headers.set("ETag", '"' + entry.etag() + '"');
    headers.set("Last-Modified", DATES.format(entry.modified()));
    headers.set("x-ms-resource-type", entry.isDirectory() ? "directory" : "file");
    if (!entry.transaction().isEmpty()) {
      headers.set("x-ms-client-transaction-id", entry.transaction());
    }
  }

  private void read(HttpExchange exchange, String name) throws IOException, RefusedException {
    Entry found = container.status(name);
    String ifMatch = ifMatch(exchange);
    if (!ifMatch.isEmpty() && !ifMatch.equals(found.etag())) {
      throw new RefusedException(412, "ConditionNotMet");
    }
    String[] range = header(exchange, "Range").replace("bytes=", "").split("-", 2);
    int from = Integer.parseInt(range[0]);
    int to = (int) Math.min(found.content().length, Long.parseLong(range[1]) + 1);
    if (from >= to) {
      throw new RefusedException(416, "InvalidRange");
    }
    describe(exchange, found);
    exchange
        .getResponseHeaders()
        .set("Content-Range", "bytes " + from + "-" + (to - 1) + "/" + found.content().length);
    send(exchange, 206, Arrays.copyOfRange(found.content(), from, to));
  }

  private void list(HttpExchange exchange, Map<String, String> query)
      throws IOException, RefusedException {
    var found = container.list(
        trimmed(query.getOrDefault("directory", "")),
        query.getOrDefault("recursive", "").equals("true"),
        query.getOrDefault("continuation", ""),
        PAGE);
    if (found.size() == PAGE) {
      exchange.getResponseHeaders().set("x-ms-continuation", found.get(PAGE - 1).getKey());
    }
    String paths = found.stream()
        .map(each -> describe(each.getKey(), each.getValue()))
        .collect(Collectors.joining(","));
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    send(exchange, 200, "{\"paths\":[" + paths + "]}");
  }

  private static String describe(String name, Entry entry) {
    return "{\"name\":\"" + name + "\",\"isDirectory\":\"" + entry.isDirectory()
        + "\",\"contentLength\":\"" + entry.content().length + "\",\"etag\":\""
        + entry.etag() + "\",\"lastModified\":\"" + DATES.format(entry.modified())
        + "\",\"owner\":\"$superuser\",\"group\":\"$superuser\",\"permissions\":\"rwxr-x---\"}";
  }

  private void put(HttpExchange exchange, String name, Map<String, String> query)
      throws IOException, RefusedException {
    boolean isNew = header(exchange, "If-None-Match").equals("*");
    String transaction = header(exchange, "x-ms-client-transaction-id");
    String source = header(exchange, "x-ms-rename-source");
    Entry made;
    if (source.isEmpty()) {
      boolean isDirectory = query.getOrDefault("resource", "").equals("directory");
      made = container.create(name, isDirectory, isNew, ifMatch(exchange), transaction);
    } else {
      String from = trimmed(decoded(source).replaceFirst("^/[^/]+", ""));
      made = container.rename(from, name, isNew, isTargetFirst, transaction);
    }
    describe(exchange, made);
    send(exchange, 201, "");
  }

  private void patch(HttpExchange exchange, String name, Map<String, String> query, byte[] body)
      throws IOException, RefusedException {
    long position = Long.parseLong(query.getOrDefault("position", "0"));
    switch (query.getOrDefault("action", "")) {
      case "append" -> {
        container.append(name, position, body);
        if (query.getOrDefault("flush", "").equals("true")) {
          describe(exchange, container.flush(name, position + body.length));
        }
        send(exchange, 202, "");
      }
      case "flush" -> {
        describe(exchange, container.flush(name, position));
        send(exchange, 200, "");
      }
      default -> throw new RefusedException(400, "UnsupportedQueryParameter");
    }
  }

  private static String header(HttpExchange exchange, String name) {
    List<String> values = exchange.getRequestHeaders().get(name);
    return values == null ? "" : values.get(0);
  }

  /** ABFS sends the ETag with quotes or without. */
  private static String ifMatch(HttpExchange exchange) {
    return header(exchange, "If-Match").replace("\"", "");
  }

  private static Map<String, String> query(String raw) {
    Map<String, String> found = new HashMap<>();
    if (raw != null) {
      for (String part : raw.split("&", -1)) {
        int middle = part.indexOf('=');
        if (middle > 0) {
          found.put(part.substring(0, middle), decoded(part.substring(middle + 1)));
        }
      }
    }
    return found;
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, UTF_8);
  }

  private static String trimmed(String name) {
    return name.replaceAll("^/+|/+$", "");
  }

  private static void send(HttpExchange exchange, int status, String body) throws IOException {
    send(exchange, status, body.getBytes(UTF_8));
  }

  private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
    boolean isEmpty = body.length == 0 || exchange.getRequestMethod().equals("HEAD");
    exchange.sendResponseHeaders(status, isEmpty ? -1 : body.length);
    if (!isEmpty) {
      exchange.getResponseBody().write(body);
    }
  }
}
