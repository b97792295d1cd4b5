package io.zrecord.internal.shard.write;

/**
 * Where bytes that are read together, a value or a dense array, begin: at a multiple of 8, or of
 * {@code bytes} if they are at least that long. So the gap before is less than 8 or less than the
 * bytes that follow, however short the values of a field are. Immutable.
 *
 * @param bytes a power of two
 */
record Alignment(long bytes) {
  /** The alignment that the format demands (FORMAT.md section 6). */
  static final Alignment LEAST = new Alignment(8);

  /** No alignment, for bytes that continue the bytes before. */
  static final Alignment NONE = new Alignment(1);

  /** Returns the length of the gap before {@code lengthBytes} bytes at a position. */
  int gapBytes(long position, long lengthBytes) {
    return (int) (-position & (lengthBytes >= bytes ? bytes : LEAST.bytes) - 1);
  }
}
