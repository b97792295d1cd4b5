package io.zrecord.store;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.internal.dataset.DirectoryGuess;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.StoreLeftovers;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.internal.store.rewrite.SealedCopy;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes tables of stores. The records stay in the chunks of the store, which get a second name in
 * the table. Only the tables of entries are copied: 20 bytes for each value, however large the
 * values are.
 */
public final class StoreSnapshot {
  private static final Logger LOG = LoggerFactory.getLogger(StoreSnapshot.class);

  private StoreSnapshot() {}

  /**
   * Makes a table of what is committed in a store now; a writer may go on with the store meanwhile.
   * The table does not depend on later changes of the store, and may be appended to.
   *
   * @param store the store's directory
   * @param target an empty or new directory on the same file system
   * @return the table's first version
   * @throws io.zrecord.errors.NotADatasetException if there is no store, or the target holds
   *     something else
   * @throws io.zrecord.errors.StorageException if the file system has no hard links
   */
  public static TableSnapshot create(Path store, Path target) {
    return create(store, target, true);
  }

  /** Makes a table below the store's own directory, which is not made durable. */
  static TemporaryTable temporaryTable(Path store) {
    // Nothing is made or removed in a directory that is no store.
    meta(new LocalMutableFiles(store));
    return TemporaryTable.of(store, (from, to) -> create(from, to, false));
  }

  private static TableSnapshot create(Path store, Path target, boolean durable) {
    DirectoryGuess.requireDirectory(store);
    RecordTable table = RecordTable.at(LocalStorage.at(target));
    table.requireCreatable();
    return publish(table, creation(SealedCopy.write(store, target, durable, () -> {})));
  }

  /**
   * Publishes a table whose chunks are second names of files that are as old as they may be. The
   * directory of the shard is new, so the age of its tables file is that of all its files.
   */
  private static TableSnapshot publish(RecordTable table, TableChange creation) {
    long oldestMillis = Long.MAX_VALUE;
    for (ShardSummary shard : creation.shards()) {
      table.check(shard);
      oldestMillis = table
          .storage()
          .find(shard.fileOf(shard.tables().get(0)))
          .map(StoredFile::modifiedMillis)
          .orElse(oldestMillis);
    }
    return table.commitChecked(creation, oldestMillis);
  }

  /**
   * Makes a table below the store's own directory, for reading. Its files are removed once the
   * returned object is unreachable, or when the process ends. If the process is killed, the next
   * table that is made here removes them.
   */
  public static TableSnapshot temporary(Path store) {
    TemporaryTable table = temporaryTable(store);
    TableSnapshot snapshot = table.version();
    table.removeAfter(snapshot);
    return snapshot;
  }

  /**
   * Reads the fields of a store from its meta file; no table of entries is opened.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no store
   */
  public static RecordSchema schema(Path store) {
    DirectoryGuess.requireDirectory(store);
    ShardMeta shard = meta(new LocalMutableFiles(store)).shard();
    return new RecordSchema(shard.fields().stream().map(FieldMeta::spec).toList());
  }

  /**
   * Turns a store into a table whose first shard is the store. The directory cannot be opened as a
   * store any more. A conversion that is cut short at any moment leaves either the store or the
   * table.
   *
   * <p>Files of the store that cannot be deleted when the table is there stay, with a warning in
   * the log. They do no harm: nobody can open the store any more.
   *
   * @return the table's first version
   * @throws io.zrecord.errors.StoreLockedException if somebody has the store open for writing
   * @throws io.zrecord.errors.WriterReplacedException if another process opened the store
   *     meanwhile. The directory is a store, as after any exception but the next
   * @throws CommitOutcomeUnknownException if the directory may be a table or a store. No file of
   *     the store was deleted
   */
  public static TableSnapshot convert(Path store) {
    DirectoryGuess.requireDirectory(store);
    ProcessLock lock = ProcessLock.acquire(store);
    try {
      return convert(
          store, new LocalMutableFiles(store), check -> LocalStorage.fenced(store, check));
    } finally {
      lock.close();
    }
  }

  /** Turns a store into a table. The caller has the lock. */
  static TableSnapshot convert(
      Path store, MutableFiles files, Function<Runnable, Storage> publishing) {
    // Commits of a writer that was killed go from the journal to the tables first.
    WriterToken writer =
        StoreRecovery.open(files, RecordStore.limits(StoreOptions.defaults())).closeForChange();
    UUID id = storeId(files);
    RecordTable table = RecordTable.at(publishing.apply(writer::require));
    try {
      // A conversion that was cut short may have left this directory; no version names it.
      removeShard(files, id, writer);
      table.commitBesideOthers(creation(SealedCopy.write(store, store, true, writer::require)));
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (RuntimeException e) {
      leaveStore(files, id, writer, e);
      throw e;
    }
    TableSnapshot latest = readBack(store, table);
    // Whoever opens the store from here on finds a table, and whoever did before is found now.
    removeStore(files, writer);
    return latest;
  }

  private static void removeShard(MutableFiles files, UUID id, WriterToken writer) {
    files.delete(List.of("shard/" + id), writer::require);
  }

  /** Leaves a store that is closed, after a failure before there was a table. */
  private static void leaveStore(
      MutableFiles files, UUID id, WriterToken writer, RuntimeException failure) {
    Closing.after(
        failure, () -> removeShard(files, id, writer), () -> LiveState.close(files, id, writer));
  }

  /** Reads the table, without which the files of the store must stay. */
  private static TableSnapshot readBack(Path store, RecordTable table) {
    try {
      return table.latest();
    } catch (RuntimeException e) {
      throw new CommitOutcomeUnknownException(
          store.toString(),
          "The store " + store + " is a table now, which cannot be read: " + e.getMessage()
              + ". The files of the store are there as well; delete nothing, and open the table"
              + " when the medium answers again",
          e);
    }
  }

  /** Deletes the files of a store that is a table. The table is there, whatever stays of them. */
  private static void removeStore(MutableFiles files, WriterToken writer) {
    try {
      StoreLeftovers.removeStore(files, writer);
    } catch (RuntimeException e) {
      LOG.warn(
          "{} is a table now, but files of the store that it was stay there: {}",
          files.location(),
          e.getMessage());
    }
  }

  /**
   * Checks that nobody writes to a store.
   *
   * @throws io.zrecord.errors.StoreLockedException if somebody does
   */
  public static void requireNoWriter(Path store) {
    ProcessLock.acquire(store).close();
  }

  private static UUID storeId(MutableFiles files) {
    return meta(files).shard().id();
  }

  private static StoreMeta meta(MutableFiles files) {
    return StoreMeta.read(
        files.pathOf(ShardMeta.FILE_NAME), files.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES));
  }

  private static TableChange creation(SealedCopy.Result copy) {
    return TableChange.of(TableChange.Kind.CREATE, copy.schema())
        .shards(copy.shard().stream().toList())
        .build();
  }
}
