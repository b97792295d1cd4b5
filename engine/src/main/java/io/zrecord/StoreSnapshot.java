package io.zrecord;

import io.zrecord.internal.dataset.DirectoryGuess;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.internal.store.StoreLeftovers;
import io.zrecord.internal.store.rewrite.SealedCopy;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Tables made of stores. Their records stay in the chunks of the store, which get a second name in
 * the table; only the tables of entries are copied, 20 bytes for each value, however large the
 * values are.
 */
public final class StoreSnapshot {
  private StoreSnapshot() {}

  /**
   * Makes a table of what is committed in a store now, while a writer may go on with it. The table
   * does not depend on what becomes of the store, and may be appended to.
   *
   * @param store the store's directory
   * @param target an empty or new directory on the same file system
   * @return the table's first version
   * @throws io.zrecord.errors.NotADatasetException if there is no store, or something else at the
   *     target
   * @throws io.zrecord.errors.StorageException if the file system has no hard links
   */
  public static TableSnapshot create(Path store, Path target) {
    return create(store, target, true);
  }

  /** Makes a table below the store's own directory, which is not made durable. */
  static TemporaryTable temporaryTable(Path store) {
    return TemporaryTable.of(store, (from, to) -> create(from, to, false));
  }

  private static TableSnapshot create(Path store, Path target, boolean durable) {
    DirectoryGuess.requireDirectory(store);
    RecordTable table = RecordTable.at(LocalStorage.at(target));
    table.requireCreatable();
    return table.commit(creation(SealedCopy.write(store, target, durable)));
  }

  /**
   * The same below the store's own directory, for reading: the files are removed when nobody refers
   * to the returned object any more, when the process ends, or if it is killed, when the next one
   * is made.
   */
  public static TableSnapshot temporary(Path store) {
    TemporaryTable table = temporaryTable(store);
    TableSnapshot snapshot = table.snapshot();
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
   * Turns a store into a table, whose first shard it is. It cannot be opened as a store any more.
   * Cut short at any moment, it is one or the other.
   *
   * @return the table's first version
   * @throws io.zrecord.errors.StoreLockedException if somebody has it open for writing
   */
  public static TableSnapshot convert(Path store) {
    DirectoryGuess.requireDirectory(store);
    LocalMutableFiles files = new LocalMutableFiles(store);
    ProcessLock lock = ProcessLock.acquire(store);
    try {
      // What a writer that was killed had committed goes to the tables first.
      RecordStore.open(files, StoreOptions.defaults(), () -> {}).close();
      // Left by one that was cut short; no version names it.
      files.delete("shard/" + storeId(files));
      TableChange change = creation(SealedCopy.write(store, store, true));
      Storage storage = LocalStorage.at(store);
      RecordTable table = RecordTable.at(storage);
      table.commitBesideOthers(change);
      // What cannot be read must not be all there is.
      TableSnapshot latest = table.latest();
      StoreLeftovers.removeStore(files);
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
