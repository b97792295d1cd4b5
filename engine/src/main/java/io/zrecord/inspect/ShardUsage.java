package io.zrecord.inspect;

import java.io.Serializable;
import java.util.List;
import java.util.UUID;

/**
 * How well a shard is used.
 *
 * @param shard its identity
 * @param firstIndex index in the dataset of its first record
 * @param recordCount its records
 * @param space of all chunks together
 * @param fragmentation of all fields together
 * @param chunks in rising order of their numbers
 * @param fields those of the dataset, in their order; one that the shard does not have is absent in all its records
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
