package io.zrecord.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A request of a client and its answer, for an {@link HttpFault} to decide on. Belongs to one
 * thread.
 */
public final class HttpExchange {
  private final URI server;
  private final Socket client;
  private final InputStream in;
  private final HttpMessage head;
  private final LongConsumer answeredBytes;
  private @Nullable HttpRequest request;
  private boolean isRead;
  private boolean goesOn = true;

  /**
   * Begins an exchange.
   *
   * @param answeredBytes is told the length of the body of each answer of the server, before the
   *     client gets it
   */
  HttpExchange(
      URI server, Socket client, InputStream in, HttpMessage head, LongConsumer answeredBytes) {
    this.server = server;
    this.client = client;
    this.in = in;
    this.head = head;
    this.answeredBytes = answeredBytes;
  }

  /** Gives a number to a request. */
  interface Numbering {
    HttpRequest number(String method, String target, String range);
  }

  void arrive(Numbering numbering) {
    String[] start = head.start().split(" ", 3);
    request = numbering.number(start[0], start[1], head.field("Range").orElse(""));
  }

  /** Returns the request. */
  public HttpRequest request() {
    if (request == null) {
      throw new IllegalStateException("The request has no number yet");
    }
    return request;
  }

  boolean goesOn() {
    return goesOn;
  }

  private HttpMessage read(long mostBytes) throws IOException {
    isRead = true;
    if (head.field("Expect").isPresent()) {
      client.getOutputStream().write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(UTF_8));
      client.getOutputStream().flush();
    }
    return head.withRequestBody(in, mostBytes);
  }

  /** Hands the request to the server. Returns the server's answer. */
  public Answer forward() throws IOException {
    HttpMessage whole = read(Long.MAX_VALUE);
    try (Socket upstream = new Socket(InetAddress.getByName(server.getHost()), server.getPort())) {
      upstream.setTcpNoDelay(true);
      OutputStream out = upstream.getOutputStream();
      out.write(whole.head(whole.body().length, "close"));
      out.write(whole.body());
      out.flush();
      InputStream answers = new BufferedInputStream(upstream.getInputStream());
      HttpMessage answer = HttpMessage.readHead(answers)
          .orElseThrow(() -> new IOException("The server does not answer " + request));
      boolean hasBody = !request().method().equals("HEAD");
      Answer found = new Answer(hasBody ? answer.withAnswerBody(answers) : answer, hasBody);
      answeredBytes.accept(found.message().body().length);
      return found;
    }
  }

  /**
   * An answer of the server, or of the proxy itself.
   *
   * @param message its head, and its body if it has one
   */
  public record Answer(HttpMessage message, boolean hasBody) {
    /** Returns the body, not a copy. */
    public byte[] body() {
      return message.body();
    }

    private long lengthBytes() {
      return hasBody ? message.body().length : message.lengthBytes();
    }
  }

  /** Answers the client. */
  public void send(Answer answer) throws IOException {
    sendFirst(answer, answer.body().length);
    if (!isRead) {
      goesOn = false;
    }
  }

  private void sendFirst(Answer answer, int bytes) throws IOException {
    OutputStream out = client.getOutputStream();
    out.write(answer.message().head(answer.lengthBytes(), "keep-alive"));
    out.write(answer.body(), 0, bytes);
    out.flush();
  }

  /** Sends the head and a part of the body, then ends the connection in good order. */
  public void sendPart(Answer answer, int bytes) throws IOException {
    sendFirst(answer, Math.min(bytes, answer.body().length));
    goesOn = false;
  }

  /** Refuses the request with a status and a code of S3. */
  public void refuse(int status, String code) throws IOException {
    if (!isRead) {
      read(Long.MAX_VALUE);
    }
    boolean hasBody = !request().method().equals("HEAD");
    byte[] body = ("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>" + code
            + "</Code><Message>injected</Message><RequestId>0</RequestId></Error>")
        .getBytes(UTF_8);
    HttpMessage message = new HttpMessage(
        "HTTP/1.1 " + status + " " + code,
        List.of("Content-Type: application/xml"),
        hasBody ? body : new byte[0]);
    send(new Answer(message, hasBody));
  }

  /** Reads a part of the request's body, which is never handed on. */
  public void readPart(int bytes) throws IOException {
    read(bytes);
  }

  /** Resets the client's connection: the client may lose bytes that were sent before. */
  public void reset() throws IOException {
    goesOn = false;
    client.setSoLinger(true, 0);
    client.close();
  }
}
