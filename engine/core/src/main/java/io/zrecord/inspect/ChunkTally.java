package io.zrecord.inspect;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.shard.ChunkFile;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/** Adds up the live and dead parts of a chunk. Belongs to one thread. */
final class ChunkTally {
  private final int ordinal;
  private final ChunkFile chunk;
  private final String name;
  private final String path;
  private final boolean isOfPatch;
  private final SortedMap<Integer, Long> liveByField = new TreeMap<>();
  private long liveBytes;
  private long deadBytes;
  private long paddingBytes = FileHeader.BYTES;
  private long recordCount;

  /**
   * Starts the tally of a chunk.
   *
   * @param ordinal ordinal of the chunk in the shard
   * @param name name of the chunk's file, relative to the dataset
   * @param path full path of the file, for messages
   * @param isOfPatch whether the chunk has values of patches: each with its own padding, and beside
   *     them those of patches before and of fields that were dropped
   */
  ChunkTally(int ordinal, ChunkFile chunk, String name, String path, boolean isOfPatch) {
    this.ordinal = ordinal;
    this.chunk = chunk;
    this.name = name;
    this.path = path;
    this.isOfPatch = isOfPatch;
  }

  long fileBytes() {
    return chunk.bytes();
  }

  /**
   * Adds bytes of values within the chunk. Values of a sound shard do not overlap, so the sum fits.
   */
  void add(long live, long padding) {
    if (live + padding > chunk.bytes() - paddingBytes - liveBytes - deadBytes) {
      throw new CorruptDataException(
          path,
          "Cannot tell how " + path + " is used: its " + chunk.bytes()
              + " bytes are fewer than those of its values, so that some of them overlap. Run zrecord verify, and restore the tables of the shard from a copy");
    }
    liveBytes += live;
    paddingBytes += padding;
  }

  /** Adds bytes of values that were deleted or replaced since the tables were written. */
  void addDead(long dead) {
    add(dead, 0);
    liveBytes -= dead;
    deadBytes += dead;
  }

  /** Attributes added bytes to a field. */
  void addOfField(int fieldId, long bytes) {
    if (bytes > 0) {
      liveByField.merge(fieldId, bytes, Long::sum);
    }
  }

  void addRecords(long count) {
    recordCount += count;
  }

  /**
   * Returns the usage of the chunk. Call this after all values were added. In a chunk written in
   * bulk, bytes outside values are alignment.
   */
  ChunkUsage usage(UUID shard) {
    boolean isCounted = chunk.isOfStore() || isOfPatch;
    long emptyBytes = isCounted ? paddingBytes : chunk.bytes() - liveBytes - deadBytes;
    return new ChunkUsage(
        shard,
        chunk.isOfStore() ? chunk.storeChunk() : ordinal,
        name,
        new SpaceUsage(
            chunk.bytes(),
            liveBytes,
            chunk.bytes() - liveBytes - emptyBytes,
            emptyBytes,
            chunk.storeRecords(),
            recordCount),
        liveByField);
  }
}
