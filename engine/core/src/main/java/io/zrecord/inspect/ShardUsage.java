package io.zrecord.inspect;

import java.io.Serializable;
import java.util.List;
import java.util.UUID;

/**
 * How well a shard is used.
 *
 * @param shard identity of the shard
 * @param firstIndex index in the dataset of the shard's first record
 * @param recordCount number of records
 * @param space of all chunks together
 * @param fragmentation of all fields together
 * @param chunks in rising order of their numbers
 * @param fields the dataset's fields, in their order; a field that the shard lacks is absent in all
 *     its records
 */
public record ShardUsage(
    UUID shard,
    long firstIndex,
    long recordCount,
    SpaceUsage space,
    Fragmentation fragmentation,
    List<ChunkUsage> chunks,
    List<FieldUsage> fields)
    implements Serializable {
  public ShardUsage {
    chunks = List.copyOf(chunks);
    fields = List.copyOf(fields);
  }
}
