package io.zrecord.internal.store.read;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.StoreAbandonedException;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.internal.io.ProcessLock.Writer;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.internal.store.Journal;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.StoreParts;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.schema.FieldSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

/**
 * A store opened for reading only. Writers, in this process or another, may come and go: readers
 * see what a writer publishes. Changes nothing of the store, and holds no lock.
 */
public final class StoreFollower implements AutoCloseable {
  /** Wait for a new writer: a killed service is usually started again at once. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static final long OPENING_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Path path;
  private final LocalMutableFiles files;
  private volatile StoreParts parts;

  private StoreFollower(Path path) {
    this.path = path;
    this.files = new LocalMutableFiles(path);
    this.parts = openParts();
  }

  /**
   * Opens the tables that the meta file names. Starts again with the new tables if the meta file is
   * replaced before all are open.
   */
  private StoreParts openParts() {
    for (StoreMeta meta = readMeta(); ; ) {
      try {
        return open(meta);
      } catch (MissingFileException e) {
        StoreMeta latest = readMeta();
        if (stems(latest).equals(stems(meta))) {
          throw e;
        }
        meta = latest;
      }
    }
  }

  private StoreParts open(StoreMeta meta) {
    List<FieldSpec> fields = meta.shard().fields().stream().map(FieldMeta::spec).toList();
    List<EntryTable> tables = new ArrayList<>();
    boolean isOpen = false;
    try {
      for (FieldMeta field : meta.shard().fields()) {
        EntryTable table = EntryTable.open(files, field.stem(), false);
        tables.add(table);
        table.requireCapacity(meta.shard().length());
      }
      LiveState live = LiveState.open(files, meta.shard().id());
      UUID storeId = meta.shard().id();
      LongConsumer onStalled = waited -> requireWriter(live, storeId, waited);
      StoreParts opened = new StoreParts(
          files, storeId, fields, tables, live, new Naming(live, storeId, stems(meta)), onStalled);
      isOpen = true;
      return opened;
    } finally {
      if (!isOpen) {
        Closing.all(tables);
      }
    }
  }

  private static List<String> stems(StoreMeta meta) {
    return meta.shard().fields().stream().map(FieldMeta::stem).toList();
  }

  /**
   * Tells whether the meta file still names the open tables, and whether the mapped file
   * {@code live} is still the one under its name. The meta file is replaced only while the stamp of
   * all records is odd.
   */
  private final class Naming implements LongPredicate {
    private final LiveState live;
    private final UUID storeId;
    private final List<String> stems;
    private volatile long lastStamp = -1;

    Naming(LiveState live, UUID storeId, List<String> stems) {
      this.live = live;
      this.storeId = storeId;
      this.stems = stems;
    }

    @Override
    public boolean test(long stamp) {
      if (live.isWithdrawn()) {
        return !live.isSucceeded(files, storeId);
      }
      if (stamp == lastStamp) {
        return true;
      }
      try {
        if (!stems(readMeta()).equals(stems)) {
          return false;
        }
      } catch (MissingFileException e) {
        // The store was turned into a table, and its last state can still be read here.
        return true;
      }
      if ((stamp & 1) == 0) {
        lastStamp = stamp;
      }
      return true;
    }
  }

  /**
   * Opens a store. Waits for a writer that is just recovering the store.
   *
   * @throws StoreAbandonedException if the last writer did not close the store and no other writer
   *     has recovered it
   */
  public static StoreFollower open(Path path) {
    long start = System.nanoTime();
    WriterToken.requireOriginal(new LocalMutableFiles(path));
    StoreFollower follower = new StoreFollower(path);
    boolean isOpen = false;
    try {
      long writerSeen = start;
      while (!follower.isReadable()) {
        long now = System.nanoTime();
        if (ProcessLock.writer(path) == Writer.NONE) {
          follower.wait(now - writerSeen, OPENING_PATIENCE_NANOS);
        } else {
          writerSeen = now;
          follower.wait(now - start, PATIENCE_NANOS);
        }
        follower.followRepair();
      }
      isOpen = true;
      return follower;
    } finally {
      if (!isOpen) {
        follower.close();
      }
    }
  }

  /** Opens the store again if it was repaired after it was opened. */
  private void followRepair() {
    StoreParts current = parts;
    if (current.live().isSucceeded(files, current.storeId())) {
      partsAfter(current);
    }
  }

  /** Returns the parts that readers use. */
  public StoreParts parts() {
    return parts;
  }

  /**
   * Returns the parts that readers use after a rewrite of the store. The retired tables are closed.
   */
  public synchronized StoreParts partsAfter(StoreParts retired) {
    if (parts.equals(retired)) {
      parts = openParts();
      retired.tables().forEach(EntryTable::close);
    }
    return parts;
  }

  private StoreMeta readMeta() {
    return StoreMetaFile.read(files);
  }

  private boolean isReadable() {
    Writer writer = ProcessLock.writer(path);
    return writer == Writer.READY || (writer == Writer.NONE && isAtRest());
  }

  /** Tells whether the tables are those of the last checkpoint, with their length published. */
  private boolean isAtRest() {
    StoreMeta meta = readMeta();
    try (Journal journal = Journal.open(files, parts.storeId(), meta.sequence(), false)) {
      return journal.isEmpty() && parts.live().isAtRest(meta.shard().length(), meta.sequence());
    }
  }

  /**
   * Checks that a writer exists. Called while readers wait far too long for the end of a change.
   */
  private void requireWriter(LiveState live, UUID storeId, long waitedNanos) {
    if (live.isSucceeded(files, storeId)) {
      throw new StorageException(
          path.toString(), "Cannot read " + path + " any more: it was repaired. Open it again");
    }
    wait(waitedNanos, PATIENCE_NANOS);
  }

  private void wait(long waitedNanos, long patienceNanos) {
    boolean isAbandoned = ProcessLock.writer(path) == Writer.NONE;
    if (waitedNanos > patienceNanos) {
      throw new StoreAbandonedException(
          path.toString(),
          "Cannot read " + path + ": "
              + (isAbandoned
                  ? "its last writer or a repair did not come to its end, and no other has opened it since"
                  : "its writer has been recovering it, or changing these records, for "
                      + TimeUnit.NANOSECONDS.toSeconds(waitedNanos) + " s, or has failed")
              + ". What was committed is safe; open it for writing once, which recovers it, or read a snapshot");
    }
    LockSupport.parkNanos(PAUSE_NANOS);
  }

  @Override
  public synchronized void close() {
    parts.tables().forEach(EntryTable::close);
  }
}
