package io.zrecord;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.internal.dataset.Providers;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.ShardUse;
import io.zrecord.internal.shard.fetch.Prefetched;
import io.zrecord.internal.shard.read.ShardedFieldReader;
import io.zrecord.internal.shard.read.StoredBlockReader;
import io.zrecord.internal.shard.search.RangeSearch;
import io.zrecord.internal.shard.search.ValueSearch;
import io.zrecord.read.FieldReader;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.StoredBlocks;
import io.zrecord.read.ValueFinder;
import io.zrecord.read.ValueRange;
import io.zrecord.read.Verification;
import io.zrecord.schema.Compression;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads a dataset: a version of a table, or what is committed in a store when the dataset is opened
 * (FORMAT.md section 1). Opening reads metadata only. Data files are opened and mapped when a
 * reader first needs them, and stay open for other readers of the process.
 *
 * <pre>{@code
 * try (RecordDataset dataset = RecordDataset.open("s3://bucket/train");
 *     Batch batch = dataset.gather(new long[] {7, 3, 7}, "image", "label")) {
 *   ByteBuffer image = batch.value("image", 0);
 * }
 * }</pre>
 *
 * <p>A dataset is thread-safe; its readers and batches are not. An open dataset does not change: a
 * table is pinned to its version.
 */
public final class RecordDataset implements RecordSource {
  private final String location;
  private final boolean isRemote;
  private final RecordSchema schema;
  private final ShardList shards;
  private final ShardUse use;
  private final @Nullable TableSnapshot snapshot;
  private final ReadOptions options;
  private final Prefetched prefetched = new Prefetched();
  private volatile boolean closed;

  /**
   * Says how a dataset is read.
   *
   * @param verification when checksums are compared
   * @param metrics where reads are counted
   */
  public record ReadOptions(Verification verification, ReadMetrics metrics) {
    public ReadOptions {
      Objects.requireNonNull(verification, "verification");
      Objects.requireNonNull(metrics, "metrics");
    }

    /** Returns options with verification at first touch and with new counters. */
    public static ReadOptions defaults() {
      return new ReadOptions(Verification.FIRST, new ReadMetrics());
    }
  }

  /** Up to that many shards are looked up in one table. */
  private static final int FEW_SHARDS = 1000;

  private RecordDataset(
      String location,
      boolean isRemote,
      RecordSchema schema,
      ShardList shards,
      ShardUse use,
      @Nullable TableSnapshot snapshot,
      ReadOptions options) {
    this.location = location;
    this.isRemote = isRemote;
    this.schema = schema;
    this.shards = shards;
    this.use = use.endWith(shards);
    this.snapshot = snapshot;
    this.options = options;
  }

  /**
   * Opens the newest version of a table, or a snapshot of a store, with default options.
   *
   * @param location a local path, or a URI of a storage on the class path, such as
   *     {@code s3://bucket/train}; see {@link Storages}
   * @throws NotADatasetException if there is neither; the message says what there is
   */
  public static RecordDataset open(String location) {
    return open(Storages.at(location), ReadOptions.defaults());
  }

  /**
   * Opens what is at the root of a storage: the newest version of a table, or a snapshot of a
   * store.
   *
   * @throws NotADatasetException if the root is neither; the message says what it is
   */
  public static RecordDataset open(Storage storage, ReadOptions options) {
    if (storage.isRemote()) {
      // A store is on a local file system, so that no request is needed to tell the kind.
      return open(RecordTable.at(storage).latest(), options);
    }
    return switch (DatasetKind.of(storage)) {
      case TABLE -> open(RecordTable.at(storage).latest(), options);
      case STORE -> openSnapshot(storage, options);
    };
  }

  /**
   * Opens a version of a table without reading a file. A file that lists shards is read when a
   * record of theirs is wanted.
   */
  public static RecordDataset open(TableSnapshot snapshot, ReadOptions options) {
    Storage storage = snapshot.storage();
    ShardUse use = OpenShards.shared().use();
    return new RecordDataset(
        storage.location(),
        storage.isRemote(),
        snapshot.schema(),
        shardList(snapshot, use),
        use,
        snapshot,
        options);
  }

  private static ShardList shardList(TableSnapshot snapshot, ShardUse use) {
    List<ShardSummary> shards = snapshot.shards();
    if (shards.size() <= FEW_SHARDS) {
      return shardList(snapshot.storage(), shards, use);
    }
    ShardList.Bounds bounds = new ShardList.Bounds() {
      @Override
      public int count() {
        return shards.size();
      }

      @Override
      public long length() {
        return snapshot.length();
      }

      @Override
      public long firstIndex(int ordinal) {
        return snapshot.firstIndex(ordinal);
      }

      @Override
      public int shardOf(long index) {
        return snapshot.shardOf(index);
      }
    };
    return new ShardList(bounds, ordinal -> use.get(snapshot.storage(), shards.get(ordinal)));
  }

  private static ShardList shardList(Storage storage, List<ShardSummary> summaries, ShardUse use) {
    long[] lengths = new long[summaries.size()];
    List<Supplier<OpenShard>> opening = new ArrayList<>(summaries.size());
    for (int i = 0; i < lengths.length; i++) {
      lengths[i] = summaries.get(i).length();
      opening.add(opening(storage, summaries.get(i), use));
    }
    return new ShardList(lengths, opening);
  }

  /**
   * Opens one shard of a table. Indices start at 0. The fields are those of {@code schema}, matched
   * by id; fields that the shard does not have are absent.
   */
  public static RecordDataset openShard(
      Storage storage, RecordSchema schema, ShardSummary shard, ReadOptions options) {
    return openShards(storage, schema, List.of(shard), options);
  }

  /**
   * Opens some shards of a table as one dataset, one shard after the other. Indices start at 0. The
   * fields are those of {@code schema}, matched by id; fields that a shard does not have are
   * absent.
   *
   * @param shards one shard or more
   */
  public static RecordDataset openShards(
      Storage storage, RecordSchema schema, List<ShardSummary> shards, ReadOptions options) {
    ShardUse use = OpenShards.shared().use();
    return new RecordDataset(
        storage.pathOf(shards.get(0).directory()),
        storage.isRemote(),
        schema,
        shardList(storage, shards, use),
        use,
        null,
        options);
  }

  private static Supplier<OpenShard> opening(Storage storage, ShardSummary shard, ShardUse use) {
    return () -> use.get(storage, shard);
  }

  private static RecordDataset openSnapshot(Storage store, ReadOptions options) {
    DatasetProvider.Snapshot table =
        Providers.ofStores(DatasetProvider.class, store, "read").snapshot(store, "read");
    RecordDataset dataset = open(table.version(), options);
    table.removeAfter(dataset.shards);
    return dataset;
  }

  /** Returns the number of records. */
  @Override
  public long length() {
    return shards.length();
  }

  @Override
  public RecordSchema schema() {
    return schema;
  }

  /** Returns the version of the table; empty for shards. */
  public OptionalLong version() {
    return snapshot == null ? OptionalLong.empty() : OptionalLong.of(snapshot.version());
  }

  /**
   * Returns the newest version, up to this one, that may have changed records; empty for shards.
   * Datasets of one table with the same number have the same records in the same order, unless a
   * repair gave the number to another commit: tags and expiries that come after it change none.
   */
  public OptionalLong recordsVersion() {
    return snapshot == null ? OptionalLong.empty() : OptionalLong.of(snapshot.recordsVersion());
  }

  /**
   * Returns the identity of the commit that made {@link #recordsVersion}; empty for shards.
   * Datasets of one table with the same identity have the same records in the same order.
   */
  public Optional<UUID> recordsCommitId() {
    return Optional.ofNullable(snapshot).map(TableSnapshot::recordsCommitId);
  }

  /** Returns the counters of what the readers of this dataset did. */
  public ReadMetrics metrics() {
    return options.metrics();
  }

  /**
   * Makes a reader of a field, for one thread. The reader stays usable after the dataset is closed.
   *
   * @throws IllegalArgumentException if there is no such field; the message lists the names
   * @throws IllegalStateException if the dataset is closed
   * @throws io.zrecord.errors.UnsupportedFormatException if the field uses a feature of a later
   *     release
   */
  public FieldReader reader(String field) {
    return shardedReader(field);
  }

  private ShardedFieldReader shardedReader(String field) {
    requireOpen();
    schema.requireReadable(location, field);
    FieldSpec spec = schema.fields().get(schema.ordinal(field));
    return new ShardedFieldReader(
        spec, shards, prefetched, options.verification(), options.metrics());
  }

  /**
   * Tells whether reading takes requests to another machine, so that a {@link #prefetcher} helps.
   */
  public boolean isRemote() {
    return isRemote;
  }

  /**
   * Makes what asks for bytes of records before they are gathered, for one thread. Has no effect
   * where files are mapped.
   *
   * @param fields names of fields
   * @throws IllegalArgumentException if there is no such field
   * @throws IllegalStateException if the dataset is closed
   */
  public Prefetcher prefetcher(List<String> fields) {
    List<ShardedFieldReader> readers = new ArrayList<>();
    fields.forEach(field -> readers.add(shardedReader(field)));
    return new Prefetcher(readers, prefetched);
  }

  /**
   * Makes what tells in which slot of its shard each record is, for one thread. It stays usable
   * after the dataset is closed.
   *
   * @throws IllegalStateException if the dataset is closed
   */
  public RecordSlots slots() {
    requireOpen();
    return new RecordSlots(shards);
  }

  /**
   * Makes a reader of the stored bytes of a compressed field (FORMAT.md section 4), for
   * {@link io.zrecord.table.write.ShardWriter#putStored}: values are verified, but not decoded.
   * Opens all shards.
   *
   * @return empty unless the field has this compression, and checksums, in every shard
   * @throws IllegalArgumentException if there is no such field
   * @throws IllegalStateException if the dataset is closed
   */
  public Optional<FieldReader> storedReader(String field, Compression compression) {
    requireOpen();
    schema.requireReadable(location, field);
    FieldSpec spec = schema.fields().get(schema.ordinal(field));
    return ShardedFieldReader.ofStored(
        spec, compression, shards, options.verification(), options.metrics());
  }

  /**
   * Makes a reader of the stored blocks of a compressed field (FORMAT.md section 5), for
   * {@link io.zrecord.table.write.ShardWriter#putBlock}. Blocks of another compression, and blocks
   * without checksums, are passed over.
   *
   * @throws IllegalArgumentException if there is no such field
   * @throws IllegalStateException if the dataset is closed
   */
  public StoredBlocks storedBlocks(String field, Compression compression) {
    requireOpen();
    schema.requireReadable(location, field);
    FieldSpec spec = schema.fields().get(schema.ordinal(field));
    return new StoredBlockReader(
        spec, compression, shards, options.verification(), options.metrics());
  }

  /**
   * Returns records that are all those whose value of a field is within one of some ranges, and
   * others: blocks of 65,536 records in which, by the statistics that were kept when the values
   * were written, a value may be within a range. Opens the tables of all shards, and reads no
   * value.
   *
   * @throws IllegalArgumentException if there is no such field, or its values are not ordered as
   *     those of a range; values of one number (but f16 and bf16), dates, timestamps, booleans and
   *     texts are
   * @throws IllegalStateException if the dataset is closed
   */
  public IndexSet indicesThatMayHave(String field, ValueRange... ranges) {
    requireOpen();
    schema.requireReadable(location, field);
    RangeSearch search = new RangeSearch(schema.fields().get(schema.ordinal(field)), ranges);
    IndexSet.Builder indices = new IndexSet.Builder();
    for (int i = 0; i < shards.count(); i++) {
      search.addTo(indices, shards.open(i), shards.firstIndex(i));
    }
    return indices.build();
  }

  /**
   * Returns the records whose value of a field is within one of some ranges. Reads the values of
   * the blocks that {@link #indicesThatMayHave} finds.
   *
   * @throws IllegalArgumentException as {@link #indicesThatMayHave} says
   * @throws IllegalStateException if the dataset is closed
   */
  public IndexSet indicesThatHave(String field, ValueRange... ranges) {
    return finder(field, ranges).among(indicesThatMayHave(field, ranges));
  }

  /**
   * Prepares to find records whose value of a field is within one of some ranges, among others.
   *
   * @throws IllegalArgumentException as {@link #indicesThatMayHave} says
   * @throws IllegalStateException if the dataset is closed
   */
  public ValueFinder finder(String field, ValueRange... ranges) {
    return new ValueSearch(reader(field), ranges);
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("Dataset " + location + " is closed; open it again");
    }
  }

  /**
   * Gathers the values of some fields at any indices, in the order of the indices; duplicates are
   * allowed. The caller closes the batch.
   *
   * @param fields names of fields; none: all fields that this release can read
   * @throws IndexOutOfBoundsException if an index is not in {@code [0, length)}
   * @throws IllegalArgumentException if there is no such field
   * @throws IllegalStateException if the dataset is closed
   */
  @Override
  public Batch gather(long[] indices, String... fields) {
    List<FieldReader> readers = new ArrayList<>();
    if (fields.length == 0) {
      schema.fields().forEach(spec -> readers.add(reader(spec.name())));
    } else {
      for (String field : fields) {
        readers.add(reader(field));
      }
    }
    for (FieldReader reader : readers) {
      reader.select(indices, 0, indices.length);
    }
    if (readers.isEmpty()) {
      shards.requireWithin(indices);
    }
    return new Batch(location, indices.length, readers);
  }

  @Override
  public String toString() {
    return snapshot == null ? location : location + " version " + snapshot.version();
  }

  /**
   * Refuses new readers. Readers and batches that were handed out stay usable.
   *
   * <p>Files that no dataset of the process has open stay mapped for half a minute, for the next
   * dataset that opens them. After that the collector unmaps the files once readers, batches and
   * values of them are unreachable. The disk space of deleted files is free only then.
   */
  @Override
  public void close() {
    closed = true;
    use.close();
  }
}
