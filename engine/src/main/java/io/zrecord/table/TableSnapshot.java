package io.zrecord.table;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One version of a table: its fields, and its shards in index order. Opens no data file. Immutable
 * and thread-safe; readable until the version is expired.
 */
public final class TableSnapshot {
  private final Storage storage;
  private final Manifest manifest;
  private final Supplier<List<ShardSummary>> source;
  private volatile @Nullable ShardIndex loaded;

  /** The shards and the first index of each. */
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

  /**
   * Creates a snapshot that reads shard lists at first use: a commit that succeeded must not fail
   * by reading them.
   */
  TableSnapshot(Storage storage, Manifest manifest, Supplier<List<ShardSummary>> source) {
    this.storage = storage;
    this.manifest = manifest;
    this.source = source;
  }

  /** Reads the shard lists now, so that opening the table reports their damage. */
  TableSnapshot load() {
    index();
    return this;
  }

  private ShardIndex index() {
    ShardIndex index = loaded;
    if (index == null) {
      // Two threads may both read, with equal results, because lists never change.
      index = new ShardIndex(source.get());
      loaded = index;
    }
    return index;
  }

  /** Returns the storage of the table. */
  public Storage storage() {
    return storage;
  }

  /** Returns the identity of the table, the same in every version. */
  public UUID tableId() {
    return manifest.tableId();
  }

  /** Returns the identity of the commit that made this version: {@link TableChange#commitId}. */
  public UUID commitId() {
    return manifest.commitId();
  }

  /** Returns the number of the version, from 0. */
  public long version() {
    return manifest.version();
  }

  /**
   * Returns the number of the newest version, up to this one, that may have changed records. Tags,
   * expiries and repairs change none.
   */
  public long recordsVersion() {
    return manifest.records().version();
  }

  /**
   * Returns the identity of the commit that made {@link #recordsVersion}. Two versions of a table
   * with the same one have the same records.
   */
  public UUID recordsCommitId() {
    return manifest.records().commitId();
  }

  /** Returns the time of the commit, which is later than that of the version before. */
  public Instant timestamp() {
    return Instant.ofEpochMilli(manifest.timestampMillis());
  }

  /** Returns the operation of the commit, such as {@code append}; informative. */
  public String operation() {
    return manifest.operation();
  }

  /** Returns the properties left by the committer, such as an application id; informative. */
  public Map<String, String> properties() {
    return manifest.properties();
  }

  /** Returns the last transaction number of each application. */
  public Map<String, Long> transactions() {
    return manifest.transactions();
  }

  public RecordSchema schema() {
    return manifest.schema();
  }

  /**
   * Requires that this release can write the table, before a long write begins. Each commit
   * requires the same.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if the table or a field uses a feature
   *     that this release does not know
   */
  public void requireWritable() {
    manifest.requireWritable(storage.location());
  }

  /**
   * Returns the fields with others after them, which get numbers that the table never used.
   *
   * @throws SchemaMismatchException if there is a field of one of the names, or a new field whose
   *     values may not be absent lacks an {@code initial} default
   */
  public RecordSchema withFields(List<FieldSpec> added) {
    List<FieldSpec> fields = new ArrayList<>(schema().fields());
    int next = nextFieldId();
    for (FieldSpec field : added) {
      if (!field.rules().isNullable() && field.rules().initialHex() == null) {
        throw new SchemaMismatchException(
            storage.location(),
            "Cannot add field '" + field.name() + "' to " + storage.location()
                + ": its values may not be absent, and it has no initial default for the records"
                + " that are there; give it one, or let values be absent");
      }
      fields.add(field.withId(next));
      next = Math.addExact(next, 1);
    }
    try {
      return new RecordSchema(fields, schema().unreadable());
    } catch (IllegalArgumentException e) {
      throw new SchemaMismatchException(
          storage.location(), "Cannot add fields to " + storage.location() + ": " + e.getMessage());
    }
  }

  /** Returns a number greater than every field id that the table ever used. */
  public int nextFieldId() {
    return manifest.nextFieldId();
  }

  /** Returns the number of records. */
  public long length() {
    return manifest.length();
  }

  /**
   * Returns the map from indices of the version before to indices of this version, if this version
   * changed indices. Each call returns a new map, for one thread, and opens no file. The map
   * belongs to this version and is removed with it. Later versions have no map unless they changed
   * indices as well.
   */
  public Optional<IndexMap> indexMap() {
    return manifest.indexMap().map(shard -> new IndexMap(storage, shard));
  }

  /** Returns all shards in index order. */
  public List<ShardSummary> shards() {
    return index().shards;
  }

  /**
   * Returns the index of the first record of a shard, given by its ordinal. For
   * {@code shards().size()}, returns the length.
   */
  public long firstIndex(int shardOrdinal) {
    return index().firstIndices[shardOrdinal];
  }

  /**
   * Returns the ordinal of the shard that holds the record.
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
