package io.zrecord.store;

import io.zrecord.internal.dataset.DirectoryGuess;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.internal.store.StoreLeftovers;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.internal.store.rewrite.SealedCopy;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Makes tables of stores. The records stay in the chunks of the store, which get a second name in
 * the table. Only the tables of entries are copied: 20 bytes for each value, however large the
 * values are.
 */
public final class StoreSnapshot {
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
    return table.commit(creation(SealedCopy.write(store, target, durable, () -> {})));
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
   * @return the table's first version
   * @throws io.zrecord.errors.StoreLockedException if somebody has the store open for writing
   */
  public static TableSnapshot convert(Path store) {
    DirectoryGuess.requireDirectory(store);
    LocalMutableFiles files = new LocalMutableFiles(store);
    ProcessLock lock = ProcessLock.acquire(store);
    try {
      // Commits of a writer that was killed go from the journal to the tables first.
      WriterToken writer =
          StoreRecovery.open(files, RecordStore.limits(StoreOptions.defaults())).closeForChange();
      // A conversion that was cut short may have left this directory; no version names it.
      files.delete(List.of("shard/" + storeId(files)), writer::require);
      TableChange change = creation(SealedCopy.write(store, store, true, writer::require));
      writer.require();
      Storage storage = LocalStorage.at(store);
      RecordTable table = RecordTable.at(storage);
      table.commitBesideOthers(change);
      // The store goes only after the table was read back.
      TableSnapshot latest = table.latest();
      // Whoever opens the store from here on finds a table, and whoever did before is found now.
      StoreLeftovers.removeStore(files, writer);
      return latest;
    } finally {
      lock.close();
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

  private static UUID storeId(LocalMutableFiles files) {
    return meta(files).shard().id();
  }

  private static StoreMeta meta(LocalMutableFiles files) {
    return StoreMeta.read(
        files.pathOf(ShardMeta.FILE_NAME), files.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES));
  }

  private static TableChange creation(SealedCopy.Result copy) {
    return new TableChange(
        UUID.randomUUID(),
        TableChange.Kind.CREATE,
        Optional.empty(),
        OptionalLong.empty(),
        copy.schema(),
        copy.shard().stream().toList(),
        Optional.empty(),
        Map.of());
  }
}
