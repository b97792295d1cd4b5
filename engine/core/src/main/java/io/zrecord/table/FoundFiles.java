package io.zrecord.table;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.io.Serializable;

/**
 * The number of files that were found, their bytes, and the last change of the files and their
 * directories.
 */
record FoundFiles(long fileCount, long lengthBytes, long modifiedMillis) implements Serializable {
  static final FoundFiles NONE = new FoundFiles(0, 0, Long.MIN_VALUE);

  static FoundFiles of(StoredFile file) {
    return new FoundFiles(1, file.lengthBytes(), file.modifiedMillis());
  }

  /** Returns a file, or all that is in a directory. */
  static FoundFiles below(Storage storage, String name, StoredFile file) {
    if (!file.isDirectory()) {
      return of(file);
    }
    // A chunk may be the second name of an old file, so the directories' times count as well.
    FoundFiles found = new FoundFiles(0, 0, file.modifiedMillis());
    for (StoredFile child : storage.list(name)) {
      found = found.plus(below(storage, name + "/" + child.name(), child));
    }
    return found;
  }

  FoundFiles plus(FoundFiles other) {
    return new FoundFiles(
        fileCount + other.fileCount,
        lengthBytes + other.lengthBytes,
        Math.max(modifiedMillis, other.modifiedMillis));
  }
}
