package io.zrecord.serving;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;

/**
 * A frame from the other process. All frames have one length, so that each is written at once and
 * an interrupt leaves none unfinished; what they carry is in the shared memory.
 *
 * <pre>
 * kind i32 | session i32 | position i64 | length i64 | slot i32 | 0 i32      little-endian
 * </pre>
 *
 * @param kind what is asked for
 * @param session number of the session; 0 of a frame that belongs to none
 * @param at position in the shared memory of what the frame carries
 * @param lengthBytes length of what the frame carries; 0 if it carries nothing
 * @param slot number of the part of the memory that the other process reuses when it is told so
 */
record Request(Kind kind, int session, long at, int lengthBytes, int slot) {
  private static final int FRAME_BYTES = 32;
  /** Bounds what is allocated for JSON and for the places of columns. */
  private static final long MOST_BYTES = 64 << 20;

  /** What a frame asks for. */
  enum Kind {
    PING(0),
    OPEN(1),
    FIELDS(2),
    BATCH(3),
    COMMIT(4),
    ABORT(5),
    CALL(6);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    /** Returns the number that stands for this kind in a frame. */
    int code() {
      return code;
    }

    private static Optional<Kind> of(int code) {
      return Arrays.stream(values()).filter(kind -> kind.code == code).findFirst();
    }
  }

  /**
   * Reads the next frame.
   *
   * @return empty if the other process has ended, or sends nothing more
   * @throws IllegalArgumentException if this is no frame; nothing that follows can be understood
   */
  static Optional<Request> read(InputStream in) throws IOException {
    byte[] bytes = new byte[FRAME_BYTES];
    try {
      new DataInputStream(in).readFully(bytes);
    } catch (EOFException e) {
      return Optional.empty();
    }
    ByteBuffer frame = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int kind = frame.getInt();
    int session = frame.getInt();
    long at = frame.getLong();
    long lengthBytes = frame.getLong();
    int slot = frame.getInt();
    int zero = frame.getInt();
    Optional<Kind> known = Kind.of(kind);
    if (known.isEmpty() || session < 0 || zero != 0) {
      throw new IllegalArgumentException("A frame of kind " + kind + " for session " + session
          + " is none of protocol " + EngineServer.PROTOCOL + "; install versions that belong"
          + " together");
    }
    if (at < 0 || lengthBytes < 0 || lengthBytes > MOST_BYTES) {
      throw new IllegalArgumentException("A frame carries " + lengthBytes + " bytes at " + at
          + "; the length is 0 to " + MOST_BYTES + ", and the position 0 or more");
    }
    return Optional.of(new Request(known.get(), session, at, (int) lengthBytes, slot));
  }
}
