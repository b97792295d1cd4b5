package io.zrecord.internal.dataset;

import io.zrecord.storage.Storage;
import java.nio.file.Path;

/** Finds the directory of a store. Stateless. */
public final class StoreDirectory {
  private StoreDirectory() {}

  /**
   * Returns the directory of a store, which is on a local file system.
   *
   * @param store a storage whose root is a store
   * @param action what the caller is about to do, such as {@code "check"}, for the message
   * @throws IllegalArgumentException if the storage is not local
   */
  public static Path of(Storage store, String action) {
    if (store.isRemote()) {
      throw new IllegalArgumentException("Cannot " + action + " " + store.location()
          + ": it is a store, which works on a local file system only. Copy the store to a local"
          + " directory, or convert the store to a table where it is written");
    }
    return Path.of(store.location());
  }
}
