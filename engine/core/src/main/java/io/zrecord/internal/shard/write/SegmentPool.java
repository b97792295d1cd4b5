package io.zrecord.internal.shard.write;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;

/**
 * Direct buffers of one size in which a shard writer collects stripes, and the count of all memory
 * that stripes take. Buffers are reused after each stripe, so a writer allocates its memory once.
 * Belongs to one thread.
 */
final class SegmentPool {
  private static final int LARGEST_BYTES = 1 << 20;
  private static final int SMALLEST_BYTES = 512;

  private final int segmentBytes;
  private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();
  private long takenBytes;

  /**
   * Creates a pool whose segments let each of {@code fieldCount} fields have several within
   * {@code budgetBytes}.
   */
  SegmentPool(long budgetBytes, int fieldCount) {
    long fair = budgetBytes / (16L * Math.max(1, fieldCount));
    segmentBytes = (int)
        Math.max(SMALLEST_BYTES, Math.min(LARGEST_BYTES, Long.highestOneBit(Math.max(1, fair))));
  }

  int segmentBytes() {
    return segmentBytes;
  }

  /** Counts bytes outside segments, or fewer if {@code bytes} is negative. */
  void count(long bytes) {
    takenBytes += bytes;
  }

  /** Returns the bytes of the segments in use, and the bytes counted. */
  long takenBytes() {
    return takenBytes;
  }

  /** Returns an empty little-endian segment. */
  ByteBuffer take() {
    ByteBuffer segment = free.poll();
    takenBytes += segmentBytes;
    return segment != null
        ? segment.clear()
        : ByteBuffer.allocateDirect(segmentBytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  void giveBack(ByteBuffer segment) {
    takenBytes -= segmentBytes;
    free.push(segment);
  }
}
