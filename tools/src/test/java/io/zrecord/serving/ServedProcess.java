package io.zrecord.serving;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Collects the frames of a parent process, has them served, and keeps the answers. */
final class ServedProcess {
  private final Path memory;
  private final ByteArrayOutputStream frames = new ByteArrayOutputStream();
  private final ByteArrayOutputStream values = new ByteArrayOutputStream();

  /** An answer: the name of its kind, its session and its JSON. */
  record Answer(String kind, int session, JsonNode json) {
    String message() {
      return json.path("message").asText();
    }
  }

  ServedProcess(Path directory) {
    this.memory = directory.resolve("memory");
  }

  ServedProcess send(Request.Kind kind, int session, String json) {
    byte[] text = json.getBytes(StandardCharsets.UTF_8);
    return frame(kind.code(), session, put(text), text.length, 0);
  }

  ServedProcess send(Request.Kind kind, int session) {
    return frame(kind.code(), session, 0, 0, 0);
  }

  ServedProcess open(int session, Path table, String mode) {
    return send(
        Request.Kind.OPEN,
        session,
        "{\"path\": \"" + table + "\", \"mode\": \"" + mode
            + "\", \"commit\": \"00000000-0000-0000-0000-00000000000" + session + "\"}");
  }

  /** Sends a batch that is described by words. */
  ServedProcess batch(int session, long... words) {
    ByteBuffer places =
        ByteBuffer.allocate(words.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    places.asLongBuffer().put(words);
    return frame(Request.Kind.BATCH.code(), session, put(places.array()), 8L * words.length, 0);
  }

  /** Puts bytes into the memory, and returns their position. */
  long put(byte... bytes) {
    long at = values.size();
    values.writeBytes(bytes);
    values.writeBytes(new byte[(8 - values.size() % 8) % 8]);
    return at;
  }

  ServedProcess frame(int kind, int session, long at, long length, int last) {
    frames.writeBytes(ByteBuffer.allocate(32)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(kind)
        .putInt(session)
        .putLong(at)
        .putLong(length)
        .putInt(7)
        .putInt(last)
        .array());
    return this;
  }

  /** Cuts the last frame. */
  ServedProcess cut(int bytes) {
    byte[] all = frames.toByteArray();
    frames.reset();
    frames.write(all, 0, all.length - bytes);
    return this;
  }

  /** Serves all frames, and returns the answers without those that say that memory is free. */
  List<Answer> serve() throws IOException {
    Files.write(memory, values.toByteArray());
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      EngineServer.serve(
          memory,
          new ByteArrayInputStream(frames.toByteArray()),
          out,
          Duration.ofMinutes(1),
          () -> {});
    } finally {
      answered = answers(out.toByteArray());
    }
    return answered;
  }

  private List<Answer> answered = List.of();

  /** Returns the answers, also of frames that ended the server. */
  List<Answer> answered() {
    return answered;
  }

  private static List<Answer> answers(byte[] out) throws IOException {
    List<Answer> answers = new ArrayList<>();
    ByteBuffer rest = ByteBuffer.wrap(out).order(ByteOrder.LITTLE_ENDIAN);
    while (rest.hasRemaining()) {
      byte[] text = new byte[rest.getInt()];
      String kind = nameOf(rest.getInt());
      int session = rest.getInt();
      rest.getInt();
      rest.get(text);
      if (!kind.equals("TAKEN")) {
        answers.add(new Answer(kind, session, new ObjectMapper().readTree(text)));
      }
    }
    return answers;
  }

  private static String nameOf(int code) {
    return Arrays.stream(Replies.Kind.values())
        .filter(kind -> kind.code() == code)
        .findFirst()
        .orElseThrow()
        .name();
  }
}
