package io.zrecord.store;

import io.zrecord.Batch;
import io.zrecord.DatasetKind;
import io.zrecord.MovedRecord;
import io.zrecord.RecordSource;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.DiskFullException;
import io.zrecord.internal.dataset.DirectoryGuess;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.internal.store.read.StoreView;
import io.zrecord.internal.store.rewrite.StoreCopy;
import io.zrecord.internal.store.write.StoreLimits;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.internal.store.write.StoreWriter;
import io.zrecord.read.ReadMetrics;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a dataset online, on one machine: any number of threads append, change and delete single
 * records while others gather. What {@link #commit} acknowledged is there after the process was
 * killed at any moment, and after power loss unless the store has {@link StoreDurability#NONE}.
 *
 * <pre>{@code
 * try (RecordStore store = RecordStore.open(Path.of("/data/online"), StoreOptions.defaults())) {
 *   long index = store.append(store.newValues().set("image", bytes).set("label", 3));
 *   store.commit();
 *   try (Batch batch = store.gather(new long[] {index, 0}, "image", "label")) {
 *     ByteBuffer image = batch.value("image", 0);
 *   }
 * }
 * }</pre>
 *
 * <p>Operations take effect in the order in which they return. Indices count records that are not
 * committed yet; readers see committed records only. A commit covers the operations of all threads.
 * The store commits a large number of operations without being asked to. A store is thread-safe.
 * One process writes a store at a time.
 */
public final class RecordStore implements RecordSource {
  private static final Logger LOG = LoggerFactory.getLogger(RecordStore.class);

  private final Path path;
  private final RecordSchema schema;
  private final StoreDurability durability;
  private final Lock lock;
  private final StoreWriter core;
  private final StoreBatches batches;
  private final ForeignValues foreign;
  private final ReadMetrics metrics = new ReadMetrics();
  private volatile boolean isClosed;

  /** Keeps other writers away until it is closed. */
  interface Lock extends AutoCloseable {
    /** Lets readers of other processes in. */
    default void setReady() {}

    @Override
    void close();
  }

  private record FileLock(ProcessLock lock) implements Lock {
    @Override
    public void setReady() {
      lock.setReady();
    }

    @Override
    public void close() {
      lock.close();
    }
  }

  private RecordStore(String location, Lock lock, StoreWriter core, StoreOptions options) {
    this.path = Path.of(location);
    this.lock = lock;
    this.core = core;
    this.durability = options.durability();
    this.schema = new RecordSchema(core.fields());
    this.foreign = new ForeignValues(location, schema);
    this.batches = new StoreBatches(
        location,
        new StoreView(core.parts(), options.verification(), metrics, options.readers()),
        retired -> {
          core.requireWriter();
          return retired;
        });
  }

  /**
   * Makes an empty store in a directory that is empty or does not exist.
   *
   * @throws DatasetExistsException if the directory has other content
   * @throws io.zrecord.errors.StoreLockedException if somebody else is making a store there
   * @throws IllegalArgumentException if a field has rules, which only tables have
   */
  public static RecordStore create(Path path, RecordSchema schema, StoreOptions options) {
    for (FieldSpec field : schema.fields()) {
      if (!field.rules().equals(FieldRules.NONE)) {
        throw new IllegalArgumentException("Field '" + field.name()
            + "' has defaults, a comment or no absent values, which only fields of tables have;"
            + " leave them out, or create a table");
      }
    }
    LocalMutableFiles files = new LocalMutableFiles(path);
    files.createRoot();
    return create(files, schema, options, new FileLock(ProcessLock.acquire(path)));
  }

  /** Makes a store of any files. The lock is closed with the store, or when the making fails. */
  static RecordStore create(
      MutableFiles files, RecordSchema schema, StoreOptions options, Lock lock) {
    boolean isCreated = false;
    try {
      requireEmpty(files);
      StoreWriter core = StoreRecovery.create(files, UUID.randomUUID(), schema, limits(options));
      RecordStore store = ready(files, lock, core, options);
      isCreated = true;
      return store;
    } finally {
      if (!isCreated) {
        lock.close();
      }
    }
  }

  private static void requireEmpty(MutableFiles files) {
    for (String name : files.list("")) {
      if (!name.equals("lock") && !WriterToken.isLeftOfCreation(name)) {
        throw new DatasetExistsException(
            files.location(),
            "Cannot create a store at " + files.location()
                + ": the directory has other content, such as " + name
                + "; open the store that is there, or choose an empty directory");
      }
    }
  }

  /** Returns whether a directory holds a store. A store whose creation was cut short is none. */
  public static boolean exists(Path path) {
    return Files.isRegularFile(path.resolve(ShardMeta.FILE_NAME))
        && DatasetKind.find(LocalStorage.at(path)).equals(Optional.of(DatasetKind.STORE));
  }

  /**
   * Opens a store for writing. If the last writer was killed, opening recovers what that writer had
   * committed.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no store
   * @throws io.zrecord.errors.StoreLockedException if another writer has the store open; the
   *     message names the writer
   * @throws io.zrecord.errors.CorruptDataException if a file is damaged
   */
  public static RecordStore open(Path path, StoreOptions options) {
    DirectoryGuess.requireDirectory(path);
    return open(new LocalMutableFiles(path), options, new FileLock(ProcessLock.acquire(path)));
  }

  /** Opens a store of any files. The lock is closed with the store, or when the opening fails. */
  static RecordStore open(MutableFiles files, StoreOptions options, Lock lock) {
    boolean isOpen = false;
    try {
      long start = System.nanoTime();
      StoreWriter core = StoreRecovery.open(files, limits(options));
      RecordStore store = ready(files, lock, core, options);
      isOpen = true;
      LOG.info(
          "Opened {}: {} records; recovered {} groups of changes, dropped {} bytes that were not committed; {} ms",
          files.location(),
          core.length(),
          core.recovery().replayedRecords(),
          core.recovery().droppedBytes(),
          (System.nanoTime() - start) / 1_000_000);
      return store;
    } finally {
      if (!isOpen) {
        lock.close();
      }
    }
  }

  /** Lets readers in. A store that cannot do that is closed. */
  private static RecordStore ready(
      MutableFiles files, Lock lock, StoreWriter core, StoreOptions options) {
    try {
      lock.setReady();
      return new RecordStore(files.location(), lock, core, options);
    } catch (RuntimeException | Error e) {
      Closing.after(e, core, core::abandon);
      throw e;
    }
  }

  static StoreLimits limits(StoreOptions options) {
    return new StoreLimits(
        options.durability() != StoreDurability.NONE,
        options.chunkRecords(),
        options.chunkBytes(),
        options.writers(),
        options.checkpointBytes(),
        options.closeTimeout());
  }

  @Override
  public RecordSchema schema() {
    return schema;
  }

  /** Returns the number of records that are committed: those that can be gathered. */
  @Override
  public long length() {
    return batches.length();
  }

  /** Returns the number of records, including those that are not committed yet. */
  public long pendingLength() {
    return core.pendingLength();
  }

  /** Returns the counters of what the readers of this store did. */
  public ReadMetrics metrics() {
    return metrics;
  }

  /** Makes room for the values of one record, which may be cleared and used again. */
  public RecordValues newValues() {
    return new RecordValues(schema);
  }

  /**
   * Adds a record at the end. Fields that are not set are absent.
   *
   * @param values made by {@link #newValues}, or by that of a store with the same fields
   * @return the index of the record
   * @throws io.zrecord.errors.SchemaMismatchException if the values were made for other fields
   * @throws io.zrecord.errors.DiskFullException if there is no space. With
   *     {@link StoreDurability#EVERY_RECORD} the record may be there all the same, as after any
   *     failed commit: commit again instead of appending again
   */
  public long append(RecordValues values) {
    foreign.require(values);
    long index = core.append(values.bytes());
    commitEach();
    return index;
  }

  /**
   * Adds records at the end. Their indices are consecutive unless other threads append as well.
   *
   * @return the indices of the records
   * @throws io.zrecord.errors.SchemaMismatchException if values were made for other fields; no
   *     record is added then
   */
  public long[] append(List<RecordValues> records) {
    records.forEach(foreign::require);
    long[] indices = new long[records.size()];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = core.append(records.get(i).bytes());
    }
    commitEach();
    return indices;
  }

  /**
   * Replaces the values that are set; the other values of the record stay.
   *
   * @throws IndexOutOfBoundsException if there is no such record
   * @throws io.zrecord.errors.SchemaMismatchException if the values were made for other fields
   */
  public void update(long index, RecordValues values) {
    foreign.require(values);
    core.update(index, values.bytes(), values.isSet());
    commitEach();
  }

  /**
   * Deletes a record. The last record takes the place and the index of the deleted record.
   *
   * @throws IndexOutOfBoundsException if there is no such record
   */
  public MovedRecord delete(long index) {
    long from = core.delete(index);
    commitEach();
    return new MovedRecord(from, index);
  }

  private void commitEach() {
    if (durability == StoreDurability.EVERY_RECORD) {
      core.commit();
    }
  }

  /**
   * Makes all operations that have returned visible to readers, and as safe as the
   * {@link StoreDurability} says. Threads that commit at the same time share the work.
   *
   * @throws io.zrecord.errors.DiskFullException if there is no space; free some and commit again
   * @throws io.zrecord.errors.StorageException if the commit may or may not have taken effect;
   *     opening the store again tells
   */
  public void commit() {
    core.commit();
  }

  /**
   * Commits, and shortens what opening has to read after a crash. A store makes checkpoints without
   * being asked to when its journal reaches {@link StoreOptions#checkpointBytes}.
   */
  public void checkpoint() {
    core.checkpoint();
  }

  /**
   * Copies what is committed to another place, which is a store as well then. Writers and readers
   * go on meanwhile. Nothing else makes a copy of a store that is open: the files change together.
   *
   * @param target an empty or new directory
   * @return the number of records of the copy
   * @throws DatasetExistsException if the target has other content
   */
  public long copyTo(Path target) {
    return copy(path, LocalStorage.at(target));
  }

  /**
   * Copies what is committed in a store to a directory of any storage; see {@link #copyTo}. The
   * store may be open for writing in this process or another. A copy on a remote storage is opened
   * after it was copied to a local directory.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no store
   * @throws DatasetExistsException if the target has other content
   */
  public static long copy(Path store, Storage target) {
    DirectoryGuess.requireDirectory(store);
    return StoreCopy.write(store, target);
  }

  /**
   * Gathers the values of some fields at any indices, in the order of the indices; duplicates are
   * allowed. The caller closes the batch. A batch shows one committed state in all its records and
   * fields, and does not change when the store does.
   *
   * @param fields names of fields; none: all fields
   * @throws IndexOutOfBoundsException if an index is not in {@code [0, length)}
   * @throws IllegalArgumentException if there is no such field
   */
  @Override
  public Batch gather(long[] indices, String... fields) {
    return batches.gather(indices, fields);
  }

  /**
   * Commits and closes the store. Batches that were handed out stay valid.
   *
   * @throws io.zrecord.errors.DiskFullException if there is no space for what is not committed. The
   *     store stays open and locked: free space, and close again
   * @throws io.zrecord.errors.StorageException if a commit of another thread does not end in time;
   *     what was acknowledged is safe, and the store stays locked until the process ends
   */
  @Override
  public synchronized void close() {
    if (isClosed) {
      return;
    }
    boolean staysOpen = false;
    try {
      core.close();
    } catch (DiskFullException e) {
      staysOpen = !core.isClosed();
      throw e;
    } finally {
      if (!staysOpen) {
        isClosed = true;
        batches.close();
      }
      if (core.isClosed()) {
        lock.close();
      }
    }
  }
}
