package io.zrecord.spark.rows;

import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.scan.OpenVersions;
import io.zrecord.spark.write.ColumnValueWriter;
import io.zrecord.spark.write.NumberedField;
import io.zrecord.spark.write.Partitioning;
import io.zrecord.spark.write.RequiredValue;
import io.zrecord.spark.write.RowPartitions;
import io.zrecord.spark.write.RowWriters;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.ShardChange;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.TableSnapshot;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.InternalRow;
import org.jspecify.annotations.Nullable;

/**
 * The changes that a task makes in the shards of a version, one shard after the other. Rows that
 * come back to an earlier shard make another change of the shard. Belongs to one task.
 */
final class ShardChanges implements AutoCloseable {
  private final RowPlan plan;
  private final ColumnValueWriter[] columns;
  private final int[] assigned;

  /** Of each column, whether it is NOT NULL. */
  private final boolean[] required;

  private final Set<String> names;
  private final @Nullable RowPartitions partitions;
  private final List<ShardChange> finished = new ArrayList<>();
  private final WrittenValues counts;
  private final MovedValue moved;

  private @Nullable TableSnapshot snapshot;
  private @Nullable ShardSummary shard;
  private @Nullable ShardChangeWriter writer;
  /** The values so far, if rows are compared with them. */
  private @Nullable StoredValues stored;

  /** The same where a row has NULL that the statement may not have assigned. */
  private @Nullable StoredValues lookedUp;

  private @Nullable ChangedRecord changed;
  private long first;
  private long end;
  private long rows;

  /** Begins without a look at a shard. */
  ShardChanges(RowPlan plan) {
    this.plan = plan;
    this.columns = new ColumnValueWriter[plan.columns().length()];
    this.required = plan.required();
    this.assigned = plan.assigned().stream().mapToInt(Integer::intValue).toArray();
    this.names = plan.assigned().stream()
        .map(i -> plan.fields().fields().get(i).name())
        .collect(Collectors.toUnmodifiableSet());
    for (int i : assigned) {
      columns[i] = RowWriters.of(
          plan.columns().apply(i).dataType(), plan.fields().fields().get(i));
    }
    this.counts = new WrittenValues(columns.length, plan.carried());
    this.moved = new MovedValue(counts);
    Partitioning moves = plan.moves();
    this.partitions = moves == null ? null : moves.of(plan.columns(), plan.fields());
    if (partitions != null) {
      for (int i : plan.carried()) {
        columns[i] = RowWriters.of(
            plan.columns().apply(i).dataType(), plan.fields().fields().get(i));
      }
    }
  }

  /** Returns what counts the values. */
  WrittenValues counts() {
    return counts;
  }

  /** Deletes the record with an index of the version. */
  void delete(long index) {
    ShardChangeWriter shard = shardOf(index);
    shard.delete(index - first);
    rows++;
  }

  /**
   * Gives the record with an index of the version the values of the assigned columns. A record that
   * gets another partition is deleted instead.
   *
   * @return where the record was that belongs to another partition now; null if the record stays
   */
  @Nullable
  Place update(long index, InternalRow row) {
    ShardChangeWriter open = shardOf(index);
    rows++;
    if (partitions != null && !partitions.of(row).equals(shard().partition())) {
      requireValues(index - first, row);
      requireGenerated(index - first, row);
      Place before = new Place(shard().id(), open.slotOf(index - first));
      open.delete(index - first);
      for (int i : plan.carried()) {
        if (!row.isNullAt(i)) {
          columns[i].write(row, i, moved);
        }
      }
      return before;
    }
    ChangedRecord record = Objects.requireNonNull(changed).at(index - first, rows - 1);
    for (int i : assigned) {
      if (row.isNullAt(i)) {
        record.putAbsent(i);
      } else {
        columns[i].write(row, i, record);
      }
    }
    return null;
  }

  /** A record that moves keeps the numbers that the table has generated. */
  private void requireGenerated(long record, InternalRow row) {
    StoredValues known = stored;
    if (known == null) {
      return; // The statement assigns none.
    }
    for (int i : plan.generated()) {
      byte[] number = ByteBuffer.allocate(Long.BYTES)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putLong(row.getLong(i))
          .array();
      if (!known.has(record, i, number, 0, number.length)) {
        throw NumberedField.given(plan.fields().fields().get(i).name());
      }
    }
  }

  /** A record that moves keeps NULL where it had NULL, and gets no other. */
  private void requireValues(long record, InternalRow row) {
    for (int i = 0; i < columns.length; i++) {
      if (row.isNullAt(i) && required[i] && !storedValues().isAbsent(record, i)) {
        throw RequiredValue.missing(
            storage().location(), plan.columns().apply(i).name());
      }
    }
  }

  private ShardSummary shard() {
    return Objects.requireNonNull(shard, "No shard is open");
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
    ShardSummary found = known.shards().get(ordinal);
    open = ShardChangeWriter.open(storage(), plan.base(), found, names);
    shard = found;
    writer = open;
    if (plan.compares() && assigned.length > 0) {
      stored = new StoredValues(storage(), plan.fields(), found);
    }
    ShardChangeWriter.@Nullable Values[] values =
        new ShardChangeWriter.@Nullable Values[columns.length];
    for (int i : assigned) {
      values[i] = open.values(plan.fields().fields().get(i).name());
    }
    changed = new ChangedRecord(
        storage().location(), plan.columns(), required, values, stored, this::storedValues, counts);
    return open;
  }

  /** Returns the values of the open shard, which are open until the next shard is. */
  private StoredValues storedValues() {
    StoredValues known = lookedUp;
    if (known == null) {
      known = new StoredValues(storage(), plan.fields(), shard());
      lookedUp = known;
    }
    return known;
  }

  private TableSnapshot snapshot() {
    TableSnapshot known = snapshot;
    if (known == null) {
      known = OpenVersions.of(plan.version());
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
    for (StoredValues open : Arrays.asList(stored, lookedUp)) {
      if (open != null) {
        open.close();
      }
    }
    stored = null;
    lookedUp = null;
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
