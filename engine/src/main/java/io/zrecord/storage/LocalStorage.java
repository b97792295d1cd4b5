package io.zrecord.storage;

import java.nio.file.Path;

/** SKELETON of the storage on a local file system. */
public final class LocalStorage {
  private LocalStorage() {}

  public static Storage at(Path root) {
    throw new UnsupportedOperationException(String.valueOf(root));
  }
}
