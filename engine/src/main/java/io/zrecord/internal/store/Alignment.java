package io.zrecord.internal.store;

/**
 * Where bytes begin that are read together, a value or a dense array: at a multiple of 8, and what is at least {@code bytes} long at a
 * multiple of these. So what is left empty before is less than 8 or than what follows, however short the values of a field are. Immutable.
 *
 * @param bytes a power of two
 */
record Alignment(long bytes) {
  /** What the format demands (FORMAT.md section 6). */
  static final Alignment LEAST = new Alignment(8);

  /** Of bytes that go on where those before ended. */
  static final Alignment NONE = new Alignment(1);

  /** Bytes to leave empty at a position before {@code lengthBytes}. */
  int gapBytes(long position, long lengthBytes) {
    return (int) (-position & (lengthBytes >= bytes ? bytes : LEAST.bytes) - 1);
  }
}
