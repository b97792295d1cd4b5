package io.zrecord.table;

import io.zrecord.storage.Storage;
import java.util.List;
import org.slf4j.LoggerFactory;

/** Deletes what a change has written and no version names. */
final class UnnamedFiles {
  private UnnamedFiles() {}

  /** Deletes files and directories; what cannot be deleted is logged, and left to a sweep. */
  static void discard(Storage storage, List<String> names) {
    for (String name : names) {
      try {
        storage.delete(name);
      } catch (RuntimeException e) {
        LoggerFactory.getLogger(UnnamedFiles.class)
            .warn(
                "Cannot delete {}, which no version names: {}",
                storage.pathOf(name),
                e.getMessage());
      }
    }
  }

  /**
   * Deletes files, with one request where the storage can; what cannot be deleted is left to a
   * sweep.
   */
  static void discardAtOnce(Storage storage, List<String> files) {
    if (files.isEmpty()) {
      return;
    }
    try {
      storage.deleteAll(files);
    } catch (RuntimeException e) {
      LoggerFactory.getLogger(UnnamedFiles.class)
          .warn(
              "Cannot delete some of {} files of {}, which no version names: {}",
              files.size(),
              storage.location(),
              e.getMessage());
    }
  }
}
