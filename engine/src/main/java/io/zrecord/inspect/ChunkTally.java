package io.zrecord.inspect;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/** Adds up the live and dead parts of a chunk. Belongs to one thread. */
final class ChunkTally {
  private final ChunkMeta meta;
  private final String path;
  private final SortedMap<Integer, Long> liveByField = new TreeMap<>();
  private long liveBytes;
  private long paddingBytes = ChunkHeader.BYTES;
  private long recordCount;

  /**
   * Starts the tally of a chunk.
   *
   * @param path the chunk's file, for messages
   */
  ChunkTally(ChunkMeta meta, String path) {
    this.meta = meta;
    this.path = path;
  }

  long fileBytes() {
    return meta.endBytes();
  }

  /**
   * Adds bytes of values within the chunk. Values of a sound shard do not overlap, so the sum fits.
   */
  void add(long live, long padding) {
    if (live + padding > meta.endBytes() - paddingBytes - liveBytes) {
      throw new CorruptDataException(
          path,
          "Cannot tell how " + path + " is used: its " + meta.endBytes()
              + " bytes are fewer than those of its values, so that some of them overlap. Run zrecord verify, and restore the tables of the shard from a copy");
    }
    liveBytes += live;
    paddingBytes += padding;
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
   * bulk, nothing is dead: bytes outside values are alignment.
   */
  ChunkUsage usage(UUID shard, String directory) {
    long emptyBytes = meta.isOfStore() ? paddingBytes : meta.endBytes() - liveBytes;
    return new ChunkUsage(
        shard,
        Integer.toUnsignedLong(meta.id()),
        directory + meta.fileName(),
        new SpaceUsage(
            meta.endBytes(),
            liveBytes,
            meta.endBytes() - liveBytes - emptyBytes,
            emptyBytes,
            meta.isOfStore() ? meta.recordCount() : 0,
            recordCount),
        liveByField);
  }
}
