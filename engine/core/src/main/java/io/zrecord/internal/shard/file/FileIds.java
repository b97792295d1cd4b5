package io.zrecord.internal.shard.file;

import java.util.UUID;

/**
 * Gives files of a shard their identities when they are written. The identities follow a seed that
 * is never used again, so no two files have the same. The seed of a new shard is the identity of
 * the shard. Files that are added to a shard later have a random seed.
 */
public final class FileIds {
  private FileIds() {}

  /** Returns the identity of a tables file. */
  public static UUID tables(UUID seed) {
    return after(seed, 1);
  }

  /** Returns the identity of a chunk file. */
  public static UUID chunk(UUID seed, int ordinal) {
    return after(seed, 2L + ordinal);
  }

  private static UUID after(UUID id, long distance) {
    return new UUID(id.getMostSignificantBits(), id.getLeastSignificantBits() + distance);
  }
}
