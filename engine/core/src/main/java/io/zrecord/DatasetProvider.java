package io.zrecord;

import io.zrecord.storage.Storage;
import io.zrecord.table.TableSnapshot;

/**
 * Opens stores for {@link Datasets} and {@link RecordDataset}, which read tables themselves.
 * Implementations are found by {@link java.util.ServiceLoader} and are thread-safe. Programs do not
 * need this type.
 */
@Spi
public interface DatasetProvider {

  /**
   * Opens the store at the root of a storage, as {@link Datasets#open} does.
   *
   * @throws IllegalArgumentException if the storage is not local
   */
  RecordSource open(Storage store);

  /**
   * Makes a table of what is committed in a store now, for reading. The caller calls
   * {@link Snapshot#removeAfter}.
   *
   * @param action what the caller is about to do, such as {@code "inspect"}, for messages
   * @throws IllegalArgumentException if the storage is not local
   */
  Snapshot snapshot(Storage store, String action);

  /** A table that a process makes of a store, and removes. */
  interface Snapshot {
    /** Returns the version to read. */
    TableSnapshot version();

    /** Deletes the files once {@code user} is unreachable, or when the process ends. */
    void removeAfter(Object user);
  }
}
