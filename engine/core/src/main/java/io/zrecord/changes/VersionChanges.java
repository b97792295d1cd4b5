package io.zrecord.changes;

import java.time.Instant;
import java.util.List;

/**
 * Says what a version changed. Immutable.
 *
 * @param version number of the version
 * @param timestamp time of its commit
 * @param operation what its commit did, as {@link io.zrecord.table.TableSnapshot#operation} says
 * @param shards the shards of which records were inserted, deleted or changed; empty if the version
 *     has the records of the version before
 */
public record VersionChanges(
    long version, Instant timestamp, String operation, List<ShardChanges> shards) {
  public VersionChanges {
    shards = List.copyOf(shards);
  }
}
