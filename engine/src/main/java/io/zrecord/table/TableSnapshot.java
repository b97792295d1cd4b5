package io.zrecord.table;

import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** SKELETON of one version of a table. Immutable. */
public final class TableSnapshot {
  public Storage storage() {
    throw new UnsupportedOperationException();
  }

  public UUID tableId() {
    throw new UnsupportedOperationException();
  }

  public long version() {
    return 0;
  }

  public Instant timestamp() {
    throw new UnsupportedOperationException();
  }

  public String operation() {
    throw new UnsupportedOperationException();
  }

  public Map<String, String> properties() {
    throw new UnsupportedOperationException();
  }

  public Map<String, Long> transactions() {
    throw new UnsupportedOperationException();
  }

  public RecordSchema schema() {
    throw new UnsupportedOperationException();
  }

  /** Greater than every field id ever used. */
  public int nextFieldId() {
    return 0;
  }

  /** Number of records. */
  public long length() {
    return 0;
  }

  /** All shards in index order. */
  public List<ShardSummary> shards() {
    throw new UnsupportedOperationException();
  }

  /** Index of the first record of the shard with that ordinal; with {@code shards().size()} the length. */
  public long firstIndex(int shardOrdinal) {
    return 0;
  }

  /** Ordinal of the shard that holds the record. */
  public int shardOf(long index) {
    return 0;
  }
}
