package io.zrecord.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A request or an answer of HTTP/1.1, whole in memory. Immutable; the body is not copied. */
final class HttpMessage {
  private static final int MAX_HEAD_BYTES = 1 << 16;

  private final String start;
  private final List<String> fields;
  private final byte[] body;

  /**
   * Makes a message.
   *
   * @param start the first line
   * @param fields the other lines of the head, as they were sent
   * @param body what follows, without the framing of chunks
   */
  HttpMessage(String start, List<String> fields, byte[] body) {
    this.start = start;
    this.fields = List.copyOf(fields);
    this.body = body;
  }

  String start() {
    return start;
  }

  byte[] body() {
    return body;
  }

  /** Reads the head of a message, without a body. Empty if the stream ends before it begins. */
  static Optional<HttpMessage> readHead(InputStream in) throws IOException {
    List<String> lines = new ArrayList<>();
    int headBytes = 0;
    while (true) {
      Optional<String> line = readLine(in);
      if (line.isEmpty()) {
        if (lines.isEmpty()) {
          return Optional.empty();
        }
        throw new EOFException("The head of a message ends in " + lines);
      }
      headBytes += line.get().length();
      if (headBytes > MAX_HEAD_BYTES) {
        throw new IOException("The head of a message is too long");
      }
      if (line.get().isEmpty()) {
        return Optional.of(new HttpMessage(
            lines.get(0), List.copyOf(lines.subList(1, lines.size())), new byte[0]));
      }
      lines.add(line.get());
    }
  }

  private static Optional<String> readLine(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        return Optional.empty();
      }
      if (b != '\r') {
        line.write(b);
      }
    }
    return Optional.of(line.toString(ISO_8859_1));
  }

  /** Returns the first value of a header field. */
  Optional<String> field(String name) {
    String prefix = name.toLowerCase(Locale.ROOT) + ":";
    return fields.stream()
        .filter(field -> field.toLowerCase(Locale.ROOT).startsWith(prefix))
        .map(field -> field.substring(prefix.length()).strip())
        .findFirst();
  }

  private boolean isChunked() {
    return field("Transfer-Encoding").orElse("").equalsIgnoreCase("chunked");
  }

  /** Reads the body of a request, at most a number of bytes. */
  HttpMessage withRequestBody(InputStream in, long mostBytes) throws IOException {
    return isChunked()
        ? withBody(readChunks(in))
        : withBody(in.readNBytes((int) Math.min(mostBytes, lengthBytes())));
  }

  /** Reads the body of an answer that ends with the connection. */
  HttpMessage withAnswerBody(InputStream in) throws IOException {
    return withBody(isChunked() ? readChunks(in) : in.readAllBytes());
  }

  private static byte[] readChunks(InputStream in) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    while (true) {
      String size = readLine(in).orElseThrow(EOFException::new);
      int length = Integer.parseInt(size.replaceFirst(";.*", "").strip(), 16);
      body.writeBytes(in.readNBytes(length));
      // The end of the chunk; the lines after the last chunk are dropped.
      String end = readLine(in).orElseThrow(EOFException::new);
      if (length == 0) {
        while (!end.isEmpty()) {
          end = readLine(in).orElseThrow(EOFException::new);
        }
        return body.toByteArray();
      }
    }
  }

  /** Returns the length that the head says of a body that is not chunked. */
  long lengthBytes() {
    return field("Content-Length").map(Long::parseLong).orElse(0L);
  }

  HttpMessage withBody(byte[] newBody) {
    return new HttpMessage(start, fields, newBody);
  }

  /**
   * Returns the head as bytes, for a connection of its own or one that goes on.
   *
   * @param lengthBytes of the body, as the head says
   */
  byte[] head(long lengthBytes, String connection) {
    StringBuilder head = new StringBuilder(start).append("\r\n");
    for (String field : fields) {
      String name = field.substring(0, field.indexOf(':')).toLowerCase(Locale.ROOT);
      switch (name) {
        case "connection", "content-length", "expect", "keep-alive", "transfer-encoding" -> {}
        default -> head.append(field).append("\r\n");
      }
    }
    return head.append("Content-Length: ")
        .append(lengthBytes)
        .append("\r\nConnection: ")
        .append(connection)
        .append("\r\n\r\n")
        .toString()
        .getBytes(ISO_8859_1);
  }
}
