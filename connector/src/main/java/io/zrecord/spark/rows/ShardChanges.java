package io.zrecord.spark.rows;

import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.scan.SnapshotId;
import io.zrecord.spark.write.ColumnValueWriter;
import io.zrecord.spark.write.RowWriters;
import io.zrecord.storage.Storage;
import io.zrecord.table.ChangeBase;
import io.zrecord.table.RecordTable;
import io.zrecord.table.ShardChange;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * The changes that a task makes in the shards of a version, one shard after the other. Rows that
 * come back to an earlier shard make another change of the shard. Belongs to one task.
 */
final class ShardChanges implements AutoCloseable {
  private final SnapshotId version;
  private final ChangeBase base;
  private final RecordSchema fields;
  private final ColumnValueWriter[] columns;
  private final int[] assigned;
  private final boolean compares;
  private final Set<String> names;
  private final List<ShardChange> finished = new ArrayList<>();

  private @Nullable TableSnapshot snapshot;
  private @Nullable ShardChangeWriter writer;
  private @Nullable StoredValues stored;
  private Map<Integer, Optional<String>> partition = Map.of();
  private long first;
  private long end;
  private long rows;

  /**
   * Begins without a look at a shard.
   *
   * @param columns the columns of the rows
   * @param fields the field of each column
   * @param assigned ordinals of the columns of which updated records get values
   * @param compares whether values are written only where they are not there already
   */
  ShardChanges(
      SnapshotId version,
      ChangeBase base,
      StructType columns,
      RecordSchema fields,
      List<Integer> assigned,
      boolean compares) {
    this.version = version;
    this.base = base;
    this.fields = fields;
    this.columns = RowWriters.of(columns, fields);
    this.assigned = assigned.stream().mapToInt(Integer::intValue).toArray();
    this.compares = compares;
    this.names = assigned.stream()
        .map(i -> fields.fields().get(i).name())
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Deletes the record with an index of the version. */
  void delete(long index) {
    ShardChangeWriter shard = shardOf(index);
    shard.delete(index - first);
    rows++;
  }

  /** Gives the record with an index of the version the values of the assigned columns. */
  void update(long index, InternalRow row) {
    ShardChangeWriter shard = shardOf(index);
    ChangedRecord record = new ChangedRecord(shard, index - first, fields, rows, partition, stored);
    for (int i : assigned) {
      if (row.isNullAt(i)) {
        record.put(i, null);
      } else {
        columns[i].write(row, i, record);
      }
    }
    rows++;
  }

  private ShardChangeWriter shardOf(long index) {
    ShardChangeWriter open = writer;
    if (open != null && index >= first && index < end) {
      return open;
    }
    finishShard();
    TableSnapshot known = snapshot();
    int ordinal = known.shardOf(index);
    first = known.firstIndex(ordinal);
    end = known.firstIndex(ordinal + 1);
    ShardSummary shard = known.shards().get(ordinal);
    open = ShardChangeWriter.open(storage(), base, shard, names);
    writer = open;
    partition = partitionOf(shard);
    if (compares && assigned.length > 0) {
      stored = new StoredValues(storage(), fields, shard);
    }
    return open;
  }

  private Map<Integer, Optional<String>> partitionOf(ShardSummary shard) {
    Map<Integer, Optional<String>> values = new HashMap<>();
    for (int i = 0; i < base.partitions().size(); i++) {
      values.put(base.partitions().get(i), Optional.ofNullable(shard.partition().get(i)));
    }
    return values;
  }

  private TableSnapshot snapshot() {
    TableSnapshot known = snapshot;
    if (known == null) {
      known = version.open();
      snapshot = known;
    }
    return known;
  }

  private Storage storage() {
    return snapshot().storage();
  }

  private void finishShard() {
    ShardChangeWriter open = writer;
    if (open != null) {
      closeStored();
      finished.add(open.finish());
      writer = null;
    }
  }

  private void closeStored() {
    StoredValues open = stored;
    if (open != null) {
      stored = null;
      open.close();
    }
  }

  /** Ends the last shard, and returns all changes. */
  List<ShardChange> finish() {
    finishShard();
    return List.copyOf(finished);
  }

  /** Deletes what was written, as far as possible. */
  void abandon() {
    close();
    if (!finished.isEmpty()) {
      finished.forEach(RecordTable.at(storage())::discard);
      finished.clear();
    }
  }

  /** Deletes what was written for a shard that has not ended. */
  @Override
  public void close() {
    closeStored();
    ShardChangeWriter open = writer;
    if (open != null) {
      writer = null;
      open.close();
    }
  }
}
