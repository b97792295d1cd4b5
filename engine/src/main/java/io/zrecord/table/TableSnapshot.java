package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One version of a table: its fields and its shards in index order. No data file is opened for it. Immutable and thread-safe; it
 * stays readable until the version is expired.
 */
public final class TableSnapshot {
  private final Storage storage;
  private final Manifest manifest;
  private final Supplier<List<ShardSummary>> source;
  private volatile @Nullable ShardIndex loaded;

  /** The shards and where each begins. */
  private static final class ShardIndex {
    final List<ShardSummary> shards;
    final long[] firstIndices;

    ShardIndex(List<ShardSummary> shards) {
      this.shards = List.copyOf(shards);
      this.firstIndices = new long[shards.size() + 1];
      for (int i = 0; i < shards.size(); i++) {
        firstIndices[i + 1] = firstIndices[i] + shards.get(i).length();
      }
    }
  }

  /** Reads shard lists when they are first needed: a commit that succeeded must not fail by reading them. */
  TableSnapshot(Storage storage, Manifest manifest, Supplier<List<ShardSummary>> source) {
    this.storage = storage;
    this.manifest = manifest;
    this.source = source;
  }

  /** Reads the shard lists now, so that damage is reported by whoever opens the table. */
  TableSnapshot load() {
    index();
    return this;
  }

  private ShardIndex index() {
    ShardIndex index = loaded;
    if (index == null) {
      // Two threads may both read; they get the same, because lists never change.
      index = new ShardIndex(source.get());
      loaded = index;
    }
    return index;
  }

  /** Where the table is. */
  public Storage storage() {
    return storage;
  }

  /** Identity of the table, the same in every version. */
  public UUID tableId() {
    return manifest.tableId();
  }

  /** Identity of the commit that made this version: {@link TableChange#commitId}. */
  public UUID commitId() {
    return manifest.commitId();
  }

  /** Number of the version, from 0. */
  public long version() {
    return manifest.version();
  }

  /** When it was committed; later than the version before. */
  public Instant timestamp() {
    return Instant.ofEpochMilli(manifest.timestampMillis());
  }

  /** What the commit did, such as {@code append}; informative. */
  public String operation() {
    return manifest.operation();
  }

  /** What the committer left, such as its application id; informative. */
  public Map<String, String> properties() {
    return manifest.properties();
  }

  /** The last transaction number of each application. */
  public Map<String, Long> transactions() {
    return manifest.transactions();
  }

  public RecordSchema schema() {
    return manifest.schema();
  }

  /** Greater than every field id that the table ever used. */
  public int nextFieldId() {
    return manifest.nextFieldId();
  }

  /** Number of records. */
  public long length() {
    return manifest.length();
  }

  /**
   * Which indices the records of the version before have in this one, if they have others: a new map, for one thread. No file is opened for
   * it. It belongs to this version and is removed with it; versions after have none unless they changed indices as well.
   */
  public Optional<IndexMap> indexMap() {
    return manifest.indexMap().map(shard -> new IndexMap(storage, shard));
  }

  /** All shards in index order. */
  public List<ShardSummary> shards() {
    return index().shards;
  }

  /** Index of the first record of the shard with that ordinal; with {@code shards().size()} the length. */
  public long firstIndex(int shardOrdinal) {
    return index().firstIndices[shardOrdinal];
  }

  /**
   * Ordinal of the shard that holds the record.
   *
   * @throws IndexOutOfBoundsException if {@code index} is not within {@code [0, length())}
   */
  public int shardOf(long index) {
    Objects.checkIndex(index, length());
    int found = Arrays.binarySearch(index().firstIndices, index);
    return found >= 0 ? found : -found - 2;
  }

  @Override
  public String toString() {
    return storage.location() + " version " + version();
  }
}
