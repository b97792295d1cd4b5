package io.zrecord.store;

import io.zrecord.DatasetProvider;
import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.FileErrors;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.table.TableSnapshot;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds a snapshot of a store in a directory below the store's. The process that made the snapshot
 * locks that directory, so that other processes can tell abandoned snapshots.
 */
final class TemporaryTable implements DatasetProvider.Snapshot {
  private static final Logger LOG = LoggerFactory.getLogger(TemporaryTable.class);
  private static final String DIRECTORY = "snapshot";

  /** Minimum age of a snapshot that is removed; a younger snapshot may not have its lock yet. */
  private static final long MIN_AGE_MILLIS = TimeUnit.MINUTES.toMillis(1);

  private static final Cleaner CLEANER = Cleaner.create();
  private static final Set<Removal> LEFT = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> LEFT.forEach(Removal::run), "zrecord-snapshots"));
  }

  private final TableSnapshot snapshot;
  private final Removal removal;

  private TemporaryTable(TableSnapshot snapshot, Removal removal) {
    this.snapshot = snapshot;
    this.removal = removal;
  }

  /**
   * Makes a table of a store, and removes the tables of processes that were killed.
   *
   * @param maker makes the table of a store in an empty directory
   */
  static TemporaryTable of(Path store, BiFunction<Path, Path, TableSnapshot> maker) {
    LocalMutableFiles files = new LocalMutableFiles(store);
    removeAbandoned(store, files);
    String name = DIRECTORY + "/" + UUID.randomUUID();
    Path directory = store.resolve(name);
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      ZRecordException cause = FileErrors.of("create", directory, e);
      if (cause instanceof DiskFullException) {
        throw cause;
      }
      throw new FileUnavailableException(
          store.toString(),
          "Cannot read the store " + store + " as a table: a snapshot of it is made in " + directory
              + ". " + cause.getMessage() + ". Or read " + store + " with a StoreReader",
          e);
    }
    Removal removal = new Removal(files, name, ProcessLock.acquire(directory));
    LEFT.add(removal);
    TableSnapshot snapshot = null;
    try {
      snapshot = maker.apply(store, directory.resolve("table"));
      return new TemporaryTable(snapshot, removal);
    } finally {
      if (snapshot == null) {
        removal.run();
      }
    }
  }

  private static void removeAbandoned(Path store, LocalMutableFiles files) {
    for (String name : files.list(DIRECTORY)) {
      Path directory = store.resolve(DIRECTORY).resolve(name);
      try {
        long age =
            System.currentTimeMillis() - Files.getLastModifiedTime(directory).toMillis();
        if (age > MIN_AGE_MILLIS && ProcessLock.writer(directory) == ProcessLock.Writer.NONE) {
          files.delete(DIRECTORY + "/" + name);
        }
      } catch (IOException | ZRecordException e) {
        LOG.debug("Cannot remove the snapshot {}", directory, e);
      }
    }
  }

  @Override
  public TableSnapshot version() {
    return snapshot;
  }

  @Override
  public void removeAfter(Object user) {
    CLEANER.register(user, removal);
  }

  private record Removal(LocalMutableFiles files, String directory, ProcessLock lock)
      implements Runnable {
    @Override
    public void run() {
      if (LEFT.remove(this)) {
        try {
          OpenShards.shared().dropBelow(files.pathOf(directory));
          files.delete(directory + "/table");
          lock.close();
          files.delete(directory);
        } catch (RuntimeException | Error e) {
          LOG.warn(
              "Cannot remove the snapshot {} before the end of the process",
              files.pathOf(directory),
              e);
          LEFT.add(this);
        }
      }
    }
  }
}
