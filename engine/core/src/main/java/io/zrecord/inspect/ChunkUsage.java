package io.zrecord.inspect;

import java.io.Serializable;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * How well a chunk file is used. A chunk holds values of any field.
 *
 * @param shard the shard of the chunk
 * @param chunkId number of the chunk in its shard, or in the store that wrote it
 * @param file name of the file, relative to the dataset
 * @param space what the chunk's bytes and records are used for
 * @param liveBytes stored bytes of the reachable values, by field id; a field without such values
 *     is missing
 */
public record ChunkUsage(
    UUID shard, long chunkId, String file, SpaceUsage space, SortedMap<Integer, Long> liveBytes)
    implements Serializable {
  public ChunkUsage {
    liveBytes = Collections.unmodifiableSortedMap(new TreeMap<>(liveBytes));
  }
}
