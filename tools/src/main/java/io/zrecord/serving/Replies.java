package io.zrecord.serving;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.ZRecordException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Answers to the other process.
 *
 * <pre>
 * length i32 of the JSON | kind i32 | session i32 | slot i32 | JSON      little-endian
 * </pre>
 */
final class Replies {
  private static final int FRAME_BYTES = 16;

  /** What an answer says. */
  enum Kind {
    /** The engine has begun; the JSON has the number of the protocol. */
    HELLO(0),
    /** Answers {@link Request.Kind#PING}. */
    PONG(1),
    /** What was in a slot is not needed any more. */
    TAKEN(2),
    /** A session has begun; the JSON says what is there. */
    OPENED(3),
    /** A commit, or a call, is done. */
    DONE(4),
    /** A session has ended without a commit, as it was asked to. */
    ABORTED(5),
    /** A session has ended without a commit, or with one whose outcome is unknown. */
    FAILED(6);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    /** Returns the number that stands for this kind in a frame. */
    int code() {
      return code;
    }
  }

  private final OutputStream out;

  Replies(OutputStream out) {
    this.out = out;
  }

  void send(Kind kind, int session) throws IOException {
    send(kind, session, 0, "");
  }

  void send(Kind kind, int session, JsonNode json) throws IOException {
    send(kind, session, 0, json.toString());
  }

  void taken(Request request) throws IOException {
    send(Kind.TAKEN, request.session(), request.slot(), "");
  }

  /** Says why a session has failed, by the name of the class of the failure. */
  void failed(int session, Throwable failure) throws IOException {
    ObjectNode json = JsonNodeFactory.instance
        .objectNode()
        .put("class", failure.getClass().getSimpleName())
        .put("message", failure.getMessage() == null ? failure.toString() : failure.getMessage());
    if (failure instanceof ZRecordException typed) {
      json.put("resource", typed.resource());
    }
    send(Kind.FAILED, session, json);
  }

  private void send(Kind kind, int session, int slot, String json) throws IOException {
    byte[] text = json.getBytes(StandardCharsets.UTF_8);
    out.write(ByteBuffer.allocate(FRAME_BYTES + text.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(text.length)
        .putInt(kind.code())
        .putInt(session)
        .putInt(slot)
        .put(text)
        .array());
    out.flush();
  }
}
