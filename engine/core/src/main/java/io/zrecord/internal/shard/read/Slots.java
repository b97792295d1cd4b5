package io.zrecord.internal.shard.read;

import io.zrecord.internal.shard.layout.StoredField;

/**
 * The places of selected values: the window and the position of the bytes of each. Arrays are
 * filled by one class for each kind of run. Belongs to one thread.
 */
final class Slots {
  /** State of a value without bytes that is not there. */
  static final byte ABSENT = 1;

  /** State of a raw value with a checksum of its own, which is verified while it is copied. */
  static final byte UNVERIFIED = 2;

  /** State of a value that has to be decoded. */
  static final byte ENCODED = 4;

  private static final byte CROSSING = 8;

  private final ReadContext context;
  private final int fixedWidth;

  /** Number of places. */
  int count;

  /** Number of absent values. */
  int absentCount;

  /** Number of present values that take more than a plain copy. */
  int specialCount;

  /** Bytes of all values. */
  long totalBytes;

  /** Bytes of all values as they are stored. */
  long storedBytes;

  /** Ordinals of the shards, or what stands for their changed values. */
  int[] source = new int[0];

  /** Slots in the shards; of changed values, the ranks of the slots. */
  long[] index = new long[0];

  /** Numbers of the windows in which the bytes begin. */
  int[] window = new int[0];

  /** Positions of the bytes in the windows. */
  int[] position = new int[0];

  /** Lengths of the values. */
  int[] length = new int[0];

  /** Lengths of the payloads of encoded values. */
  int[] payload = new int[0];

  /** States; 0 for what a plain copy reads. */
  byte[] state = new byte[0];

  Slots(ReadContext context) {
    this.context = context;
    this.fixedWidth = context.fixedWidth();
  }

  /** Drops all places, and makes room for {@code newCount} others. */
  void begin(int newCount) {
    count = 0;
    absentCount = 0;
    specialCount = 0;
    totalBytes = 0;
    storedBytes = 0;
    context.decoded().clear();
    if (source.length < newCount) {
      int capacity = Math.max(newCount, source.length + (source.length >> 1));
      source = new int[capacity];
      index = new long[capacity];
      window = new int[capacity];
      position = new int[capacity];
      length = new int[capacity];
      payload = new int[0];
      state = new byte[capacity];
    }
    count = newCount;
  }

  /** Makes room for the payloads of encoded values. */
  void expectPayloads() {
    if (payload.length < state.length) {
      payload = new int[state.length];
    }
  }

  /** Places stored bytes, whose windows are made ready. */
  void place(int k, ShardPart part, int chunk, long offset, int bytes) {
    long place = part.place(chunk, offset, bytes);
    window[k] = Place.window(place);
    position[k] = Place.position(place);
    length[k] = bytes;
  }

  /** Ends a present value, which was decoded to a position of a window. */
  void setDecoded(int k, int newWindow, int newPosition, int newLength) {
    window[k] = newWindow;
    position[k] = newPosition;
    length[k] = newLength;
    state[k] = 0;
    totalBytes += newLength;
  }

  /** Ends a present value of a block, which is decoded when it is copied. */
  void setDeferred(int k, int newLength) {
    setDecoded(k, WindowTable.EMPTY, 0, newLength);
    state[k] = ENCODED;
    specialCount++;
  }

  /** Ends a present value of the fixed width that is ready to be copied. */
  void setPlain(int k, int newWindow, int newPosition) {
    window[k] = newWindow;
    position[k] = newPosition;
    length[k] = fixedWidth;
    state[k] = 0;
    storedBytes += fixedWidth;
  }

  /** Moves a value that was ready to be copied, or was verified and decoded when it was moved. */
  void move(int k, int newWindow, int newPosition) {
    if (state[k] != 0) {
      specialCount--;
      state[k] = 0;
    }
    window[k] = newWindow;
    position[k] = newPosition;
  }

  void setAbsent(int k) {
    window[k] = WindowTable.EMPTY;
    position[k] = 0;
    length[k] = 0;
    state[k] = ABSENT;
    absentCount++;
  }

  /** Ends a present value, which was placed. */
  void setPresent(int k, byte flags) {
    if (fixedWidth >= 0 && length[k] != fixedWidth) {
      throw context.corrupt(
          path(k), globalIndex(k), "has " + length[k] + " bytes instead of " + fixedWidth, null);
    }
    totalBytes += length[k];
    boolean encoded = (flags & ENCODED) != 0;
    byte all = context.table().crosses(window[k], position[k], encoded ? payload[k] : length[k])
        ? (byte) (flags | CROSSING)
        : flags;
    state[k] = all;
    if (all != 0) {
      specialCount++;
    }
  }

  /** Tells whether the value is a stretch of one window of a file, so that a view needs no copy. */
  boolean isPlain(int k) {
    return (state[k] & (ENCODED | CROSSING)) == 0 && !context.decoded().owns(window[k]);
  }

  /** Returns the file to name for a value. */
  String path(int k) {
    if (window[k] != WindowTable.EMPTY) {
      return context.table().path(window[k]);
    }
    return context.part(source[k]).field() instanceof StoredField field
        ? field.path()
        : context.spec().name();
  }

  /** Returns the index of a value in the dataset. */
  long globalIndex(int k) {
    return context.indexOf(source[k], index[k]);
  }
}
