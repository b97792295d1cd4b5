package io.zrecord.internal.shard;

import java.util.UUID;

/**
 * Gives the files of a shard their identities when the shard is written. They follow the identity
 * of the shard, which is never used again, so no two files have the same. A file that is added to a
 * shard later has a random identity instead.
 */
public final class FileIds {
  private FileIds() {}

  /** Returns the identity of the tables file of a new shard. */
  public static UUID tables(UUID shardId) {
    return after(shardId, 1);
  }

  /** Returns the identity of a chunk file of a new shard. */
  public static UUID chunk(UUID shardId, int ordinal) {
    return after(shardId, 2L + ordinal);
  }

  private static UUID after(UUID id, long distance) {
    return new UUID(id.getMostSignificantBits(), id.getLeastSignificantBits() + distance);
  }
}
