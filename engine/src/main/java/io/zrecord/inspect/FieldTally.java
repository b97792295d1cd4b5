package io.zrecord.inspect;

import io.zrecord.schema.FieldSpec;
import java.util.SortedMap;

/** Adds up the values of one field of one shard, which come in the order of the index. Belongs to one thread. */
final class FieldTally {
  private static final int NONE = -1;

  private final FieldSpec field;
  private final SizeHistogram.Builder sizes = new SizeHistogram.Builder();
  private long valueCount;
  private long liveBytes;
  private long paddingBytes;
  private long scatteredCount;
  private long jumpCount;
  private double jumpBytes;
  private long spannedPages;
  private int lastChunk = NONE;
  private long lastEnd;
  private long lastPage = NONE;

  /** Bytes since the last change of the chunk. */
  private long pendingBytes;

  FieldTally(FieldSpec field) {
    this.field = field;
  }

  /** Adds values without a gap between them. */
  void add(ChunkTally chunk, long offset, long count, int lengthBytes) {
    long bytes = count * lengthBytes;
    long end = offset + bytes;
    long padding = Math.min(-end & 7, chunk.fileBytes() - end);
    follow(chunk.ordinal(), offset);
    if (bytes > 0) {
      span(offset / Fragmentation.PAGE_BYTES, (end - 1) / Fragmentation.PAGE_BYTES);
    }
    lastEnd = end;
    sizes.add(lengthBytes, count);
    valueCount += count;
    liveBytes += bytes;
    pendingBytes += bytes;
    paddingBytes += padding;
    chunk.add(bytes, padding);
  }

  private void follow(int chunk, long offset) {
    if (lastChunk == NONE) {
      lastChunk = chunk;
    } else if (chunk != lastChunk) {
      scatteredCount++;
      lastPage = NONE;
      lastChunk = chunk;
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

  /** Tells a chunk what of the field is in it, before the field goes on in another one. */
  boolean leaves(int chunk) {
    return lastChunk != NONE && lastChunk != chunk;
  }

  /** The chunk of the last value. */
  int lastChunk() {
    return lastChunk;
  }

  /** Moves what was added since the last time to the sums of its chunk. */
  void flush(SortedMap<Integer, Long> sums) {
    if (pendingBytes > 0) {
      sums.merge(field.id(), pendingBytes, Long::sum);
      pendingBytes = 0;
    }
  }

  long valueCount() {
    return valueCount;
  }

  FieldUsage usage(long recordCount, long absentCount) {
    return new FieldUsage(
        field,
        recordCount,
        absentCount,
        liveBytes,
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
