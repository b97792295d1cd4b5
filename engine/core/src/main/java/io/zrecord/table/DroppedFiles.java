package io.zrecord.table;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Deletes the files that the versions of a dropped table named, and no other. A directory of a
 * shard is deleted if nothing else is in it. Belongs to one thread.
 */
final class DroppedFiles {
  /** Files that are deleted together. */
  private static final int GROUP_FILES = 1000;

  /** Directories about which the storage is asked, until one of them outlasts its files. */
  private static final int MOST_ASKED = 8;

  private final Storage storage;
  private final List<String> files = new ArrayList<>();
  private final List<String> directories = new ArrayList<>();
  private int asked;
  private boolean hasDirectories;

  DroppedFiles(Storage storage) {
    this.storage = storage;
  }

  /**
   * Deletes the files.
   *
   * @throws StorageException if one cannot be deleted; some were
   */
  void delete(NamedFiles named) {
    try {
      named.besideShards().forEach(this::add);
      for (UUID shard : named.shards()) {
        String directory = "shard/" + shard;
        named.filesOf(shard).forEach(file -> add(directory + "/" + file));
        directories.add(directory);
      }
      flush();
    } catch (ZRecordException e) {
      throw new StorageException(
          e.resource(),
          "The table at " + storage.location()
              + " was dropped, but not all of its files could be deleted: " + e.getMessage()
              + "; sweep to delete the rest",
          e);
    }
  }

  private void add(String file) {
    files.add(file);
    if (files.size() == GROUP_FILES) {
      flush();
    }
  }

  /** Deletes the files collected. A directory with a file that is not yet deleted comes later. */
  private void flush() {
    storage.deleteAll(List.copyOf(files));
    files.clear();
    if (hasDirectories()) {
      Requests.forEach(storage, directories, storage::deleteIfEmpty);
    }
    directories.clear();
  }

  /** Tells whether directories outlast their files, as in no store of objects. */
  private boolean hasDirectories() {
    for (int i = 0; i < directories.size() && !hasDirectories && asked < MOST_ASKED; i++) {
      asked++;
      hasDirectories = storage.exists(directories.get(i));
    }
    return hasDirectories;
  }
}
