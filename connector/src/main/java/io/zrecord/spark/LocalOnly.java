package io.zrecord.spark;

import io.zrecord.spark.path.SparkStorages;
import io.zrecord.storage.Storage;
import java.nio.file.Path;

/** Refuses what works on local file systems only. Stateless. */
final class LocalOnly {
  private LocalOnly() {}

  /**
   * Returns the directory of a dataset.
   *
   * @param operation the operation, as a verb
   * @throws IllegalArgumentException if the dataset is on another file system
   */
  static Path directory(String operation, Storage storage) {
    return SparkStorages.localPath(storage)
        .orElseThrow(() -> new IllegalArgumentException("Cannot " + operation + " "
            + storage.location() + ": that works on local file systems only; copy the dataset to"
            + " one"));
  }
}
