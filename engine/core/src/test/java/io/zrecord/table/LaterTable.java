package io.zrecord.table;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.testing.ForwardingStorage;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Care of tables as it is done later, so that what was just written is old enough. */
public final class LaterTable {
  private static final Duration LATER = Duration.ofDays(300);

  /** A storage whose clock is ahead as well: it dates what is changed from now on. */
  private static final class LaterStorage extends ForwardingStorage {
    private final Set<String> old = new HashSet<>();

    LaterStorage(Storage storage) {
      super(storage);
      note("");
    }

    private void note(String directory) {
      for (StoredFile file : storage.list(directory)) {
        String name = (directory.isEmpty() ? "" : directory + "/") + file.name();
        old.add(name + " " + file.modifiedMillis());
        if (file.isDirectory()) {
          note(name);
        }
      }
    }

    @Override
    public List<StoredFile> list(String directory) {
      return super.list(directory).stream().map(file -> dated(directory, file)).toList();
    }

    private StoredFile dated(String directory, StoredFile file) {
      long millis = file.modifiedMillis();
      String name = (directory.isEmpty() ? "" : directory + "/") + file.name();
      return old.contains(name + " " + millis)
          ? file
          : new StoredFile(
              file.name(), file.isDirectory(), file.lengthBytes(), millis + LATER.toMillis());
    }
  }

  private LaterTable() {}

  /** Returns the table with a clock that is 300 days ahead. */
  public static RecordTable of(Storage storage) {
    return RecordTable.at(
        new LaterStorage(storage), InstantSource.offset(InstantSource.system(), LATER));
  }

  /** Expires every version that changed records but the newest ones. */
  public static ExpireResult expire(Storage storage, int keepVersions) {
    return of(storage).expire(ExpireOptions.defaults().withKeepVersions(keepVersions));
  }
}
