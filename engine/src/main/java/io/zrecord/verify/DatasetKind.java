package io.zrecord.verify;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.DatasetShape;
import io.zrecord.storage.LocalStorage;
import java.nio.file.Path;

/** What kind of dataset stands in a directory. */
public enum DatasetKind {
  /** Versions of immutable shards. */
  TABLE,
  /** One sealed shard. */
  SHARD,
  /** A store that is written online. */
  STORE;

  /**
   * Tells what stands there, damaged or not.
   *
   * @throws io.zrecord.errors.NotADatasetException if it is no dataset; the message says what it seems to be and what to do
   */
  public static DatasetKind of(Path path) {
    DatasetShape.requireDirectory(path);
    MutableFiles files = new LocalMutableFiles(path);
    if (!hasVersions(files) && files.exists(JournalScan.FILE_NAME)) {
      return STORE; // Also without its meta file, which a sealed shard would not survive.
    }
    return switch (DatasetShape.of(LocalStorage.at(path))) {
      case TABLE -> TABLE;
      case STORE -> STORE;
      case SHARD -> isStore(files) ? STORE : SHARD;
    };
  }

  private static boolean hasVersions(MutableFiles files) {
    return ManifestNames.includeVersion(files.list(ManifestNames.DIRECTORY));
  }

  private static boolean isStore(MutableFiles files) {
    return StoreMeta.isStore(
        files.pathOf(ShardMeta.FILE_NAME), files.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES));
  }
}
