package io.zrecord.inspect;

import io.zrecord.DatasetKind;
import io.zrecord.DatasetProvider;
import io.zrecord.Storages;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.dataset.Providers;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * Measures how well a dataset is used: a version of a table, or the committed state of a store.
 *
 * <pre>{@code
 * DatasetUsage usage = DatasetInspection.of("/data/train")
 *     .run(shard -> shard.chunks().forEach(chunk -> log.info("{}", chunk)));
 * log.info("{} of the bytes are alive", usage.space().byteUtilization());
 * }</pre>
 *
 * <p>Reads entries, never values. Immutable and thread-safe.
 */
public final class DatasetInspection {
  /** Cost of opening a shard, in entries: opening takes about as long as reading this many. */
  private static final long SHARD_ENTRIES = 10_000;

  private final String location;
  private final RecordSchema schema;
  private final long recordCount;
  private final int shardCount;
  private final IntFunction<ShardInspection> shards;

  private DatasetInspection(
      String location,
      RecordSchema schema,
      long recordCount,
      int shardCount,
      IntFunction<ShardInspection> shards) {
    this.location = location;
    this.schema = schema;
    this.recordCount = recordCount;
    this.shardCount = shardCount;
    this.shards = shards;
  }

  /**
   * Returns the inspection of the dataset at a location. Of a table, the newest version is
   * inspected. Of a store, a snapshot is taken, which needs room for the store's tables: 20 bytes a
   * value.
   *
   * @param location a local path, or a URI of a storage on the class path, such as
   *     {@code s3://bucket/train}; see {@link Storages}
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   */
  public static DatasetInspection of(String location) {
    return of(Storages.at(location));
  }

  /** Returns the inspection of what is at the root of a storage, as the other method does. */
  public static DatasetInspection of(Storage storage) {
    return switch (DatasetKind.of(storage)) {
      case TABLE -> of(RecordTable.at(storage).latest());
      case STORE -> ofStore(storage);
    };
  }

  /** Returns the inspection of a version of a table. */
  public static DatasetInspection of(TableSnapshot snapshot) {
    return new DatasetInspection(
        snapshot.storage().location(),
        snapshot.schema(),
        snapshot.length(),
        snapshot.shards().size(),
        ordinal -> shard(snapshot, ordinal));
  }

  private static ShardInspection shard(TableSnapshot snapshot, int ordinal) {
    return ShardInspection.of(
        snapshot.storage(),
        snapshot.schema(),
        snapshot.shards().get(ordinal),
        snapshot.firstIndex(ordinal));
  }

  /**
   * Returns the inspection of a snapshot of a store. The snapshot is removed once the inspection is
   * unreachable.
   */
  private static DatasetInspection ofStore(Storage store) {
    DatasetProvider.Snapshot table =
        Providers.ofStores(DatasetProvider.class, store, "inspect").snapshot(store, "inspect");
    TableSnapshot snapshot = table.version();
    table.removeAfter(snapshot);
    return new DatasetInspection(
        store.location(),
        snapshot.schema(),
        snapshot.length(),
        snapshot.shards().size(),
        ordinal -> shard(snapshot, ordinal).atRoot());
  }

  /**
   * Returns an inspection of evenly spaced shards if a full pass would cost more than about
   * {@code maxEntries} entries. At least one shard is inspected, and every inspected shard as a
   * whole.
   *
   * @param maxEntries at least 1; dense fields have none
   */
  public DatasetInspection sampled(long maxEntries) {
    if (maxEntries < 1) {
      throw new IllegalArgumentException("maxEntries is " + maxEntries + "; it must be 1 or more");
    }
    long fields = schema.fields().stream().filter(field -> !field.isDense()).count();
    double entries = shardCount * (double) SHARD_ENTRIES + recordCount * (double) fields;
    if (entries <= maxEntries || shardCount <= 1) {
      return this;
    }
    int count = Math.max(1, (int) (shardCount * (maxEntries / entries)));
    return new DatasetInspection(
        location,
        schema,
        recordCount,
        count,
        ordinal -> shards.apply((int) ((long) ordinal * shardCount / count)));
  }

  /** Returns the fields. */
  public RecordSchema schema() {
    return schema;
  }

  /**
   * Returns the number of shards that are inspected. In a sample, only the sampled shards count.
   */
  public int shardCount() {
    return shardCount;
  }

  /**
   * Returns a shard of this inspection.
   *
   * @param ordinal 0 to {@link #shardCount} − 1, in index order
   */
  public ShardInspection shard(int ordinal) {
    return shards.apply(java.util.Objects.checkIndex(ordinal, shardCount));
  }

  /**
   * Inspects all shards one by one, in index order. At most one shard is in memory.
   *
   * @param onShard takes the usage of each shard
   * @return the sum of all shards
   * @throws CorruptDataException if metadata or an entry is damaged
   */
  public DatasetUsage run(Consumer<ShardUsage> onShard) {
    DatasetUsage.Sum sum = new DatasetUsage.Sum(schema.fields());
    for (int i = 0; i < shardCount; i++) {
      ShardUsage shard = shard(i).usage();
      add(sum, shard);
      onShard.accept(shard);
    }
    return sum.build();
  }

  private void add(DatasetUsage.Sum sum, ShardUsage shard) {
    try {
      sum.add(shard);
    } catch (ArithmeticException e) {
      throw new CorruptDataException(
          location,
          "Cannot tell how " + location + " is used: sizes or counts of shard " + shard.shard()
              + " add up to more than 2^63 with those before it; restore its meta file from a copy",
          e);
    }
  }
}
