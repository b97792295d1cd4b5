package io.zrecord.inspect;

import io.zrecord.schema.FieldSpec;
import org.jspecify.annotations.Nullable;

/**
 * Adds up the values of one field of one shard. Values come in the order of the index. Belongs to
 * one thread.
 */
final class FieldTally {
  private static final long NONE = -1;

  private final FieldSpec field;
  private final SizeHistogram.Builder sizes = new SizeHistogram.Builder();
  private long valueCount;
  private long liveBytes;
  private long changedCount;
  private long changedBytes;
  private long paddingBytes;
  private long scatteredCount;
  private long jumpCount;
  private double jumpBytes;
  private long spannedPages;
  private @Nullable ChunkTally lastChunk;
  private long lastEnd;
  private long lastPage = NONE;

  /** Bytes since the last change of the chunk. */
  private long pendingBytes;

  FieldTally(FieldSpec field) {
    this.field = field;
  }

  /**
   * Adds values that lie without a gap between them.
   *
   * @throws ArithmeticException if a sum exceeds 2⁶³−1
   */
  void add(ChunkTally chunk, long offset, long count, int lengthBytes, int padding) {
    long bytes = count * lengthBytes;
    sizes.add(lengthBytes, count);
    addRange(chunk, offset, bytes, count, padding);
  }

  /** Adds a block of compressed values. Each counts with the average of the stored bytes. */
  void addBlock(ChunkTally chunk, long offset, int count, int storedBytes, int padding) {
    sizes.add(storedBytes / count, count);
    addRange(chunk, offset, storedBytes, count, padding);
  }

  /** Adds a value of a patch to its chunk. The place of the value says nothing of fragmentation. */
  void addChanged(ChunkTally chunk, int lengthBytes, int padding) {
    chunk.add(lengthBytes, padding);
    chunk.addOfField(field.id(), lengthBytes);
    sizes.add(lengthBytes, 1);
    changedCount++;
    changedBytes += lengthBytes;
    paddingBytes += padding;
  }

  private void addRange(ChunkTally chunk, long offset, long bytes, long count, int padding) {
    long end = offset + bytes;
    chunk.add(bytes, padding);
    follow(chunk, offset);
    if (bytes > 0) {
      span(offset / Fragmentation.PAGE_BYTES, (end - 1) / Fragmentation.PAGE_BYTES);
    }
    lastEnd = end;
    valueCount += count;
    liveBytes = Math.addExact(liveBytes, bytes);
    pendingBytes += bytes;
    paddingBytes += padding;
  }

  private void follow(ChunkTally chunk, long offset) {
    if (chunk != lastChunk) {
      scatteredCount += lastChunk == null ? 0 : 1;
      flush();
      lastChunk = chunk;
      lastPage = NONE;
    } else {
      long distance = offset - lastEnd;
      if (distance < 0 || distance >= Fragmentation.PAGE_BYTES) {
        scatteredCount++;
        jumpCount++;
        jumpBytes += Math.abs((double) distance);
      }
    }
  }

  private void span(long firstPage, long page) {
    spannedPages += page - firstPage + (firstPage == lastPage ? 0 : 1);
    lastPage = page;
  }

  /** Reports the bytes added since the last change of the chunk to the chunk of the last values. */
  void flush() {
    if (lastChunk != null) {
      lastChunk.addOfField(field.id(), pendingBytes);
    }
    pendingBytes = 0;
  }

  /** Returns the number of present values of a patch. */
  long changedCount() {
    return changedCount;
  }

  /** Returns the number of values that are not of a patch. */
  long valueCount() {
    return valueCount;
  }

  FieldUsage usage(long recordCount, long absentCount) {
    return new FieldUsage(
        field,
        recordCount,
        absentCount,
        Math.addExact(liveBytes, changedBytes),
        paddingBytes,
        sizes.build(),
        new Fragmentation(
            Math.max(0, valueCount - 1),
            scatteredCount,
            jumpCount,
            jumpBytes,
            liveBytes,
            Math.multiplyExact(spannedPages, (long) Fragmentation.PAGE_BYTES)));
  }
}
