package io.zrecord.spark.scan;

import io.zrecord.table.TableSnapshot;

/**
 * The versions that tasks of this process look into. The lists of shards are read once, not for
 * every task. Thread-safe.
 */
public final class OpenVersions {
  private static final SoftValues<Key, TableSnapshot> OPENED = new SoftValues<>();

  private OpenVersions() {}

  /** What one storage has may be shared by whoever reaches it in the same way only. */
  private record Key(Object storage, SnapshotId version) {}

  /**
   * Opens a version.
   *
   * @throws io.zrecord.errors.VersionNotFoundException if the version does not exist any more, or
   *     another version has its number
   */
  public static TableSnapshot of(SnapshotId version) {
    return OPENED.get(new Key(version.location().storage().identity(), version), version::open);
  }
}
