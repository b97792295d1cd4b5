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
}
