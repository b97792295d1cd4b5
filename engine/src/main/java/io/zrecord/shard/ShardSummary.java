package io.zrecord.shard;

import java.io.Serializable;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Says what a manifest knows of a shard (FORMAT.md section 7): enough to plan without opening a
 * file of the shard. Takes a few hundred bytes; it is also the message of a write task to its
 * driver. Immutable.
 *
 * @param id the shard's identity; its directory is {@code shard/<id>}
 * @param metaFile name of its meta file
 * @param metaChecksum the {@code crc32c} member of its meta file
 * @param length number of records, > 0
 * @param chunkCount number of its chunk files
 * @param chunkBytes bytes of its chunk files, headers included
 * @param valueBytes stored bytes of each field's values, by field id; a field that is missing here
 *     is absent in this shard
 */
public record ShardSummary(
    UUID id,
    String metaFile,
    int metaChecksum,
    long length,
    int chunkCount,
    long chunkBytes,
    SortedMap<Integer, Long> valueBytes)
    implements Serializable {

  public ShardSummary {
    valueBytes = Collections.unmodifiableSortedMap(new TreeMap<>(valueBytes));
  }

  /**
   * Returns this shard without the sizes of its fields, which only planners need: some hundred
   * bytes, however many fields the shard has.
   */
  public ShardSummary withoutSizes() {
    return new ShardSummary(
        id, metaFile, metaChecksum, length, chunkCount, chunkBytes, Collections.emptySortedMap());
  }

  /** Returns the directory of the shard, relative to the table's. */
  public String directory() {
    return "shard/" + id;
  }
}
