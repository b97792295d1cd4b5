package io.zrecord.spark.rows;

import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
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
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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
  private final Set<String> names;
  private final List<ShardChange> finished = new ArrayList<>();

  private @Nullable TableSnapshot snapshot;
  private @Nullable ShardChangeWriter writer;
  private long first;
  private long end;
  private long rows;

  ShardChanges(
      SnapshotId version,
      ChangeBase base,
      StructType columns,
      RecordSchema fields,
      int[] assigned) {
    this.version = version;
    this.base = base;
    this.fields = fields;
    this.columns = RowWriters.of(columns, fields);
    this.assigned = assigned;
    this.names = IntStream.of(assigned)
        .mapToObj(i -> fields.fields().get(i).name())
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
    ChangedRecord record = new ChangedRecord(shard, index - first, fields, rows);
    for (int i : assigned) {
      if (row.isNullAt(i)) {
        FieldSpec field = fields.fields().get(i);
        shard.update(index - first, field.name(), null);
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
    open = ShardChangeWriter.open(storage(), base, known.shards().get(ordinal), names);
    writer = open;
    return open;
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
      finished.add(open.finish());
      writer = null;
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
    ShardChangeWriter open = writer;
    if (open != null) {
      writer = null;
      open.close();
    }
  }
}
