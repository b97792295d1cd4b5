package io.zrecord.spark.changes;

import io.zrecord.changes.RecordMoves;
import io.zrecord.changes.ShardChanges;
import io.zrecord.changes.VersionChanges;
import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.SplitSizing;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.spark.scan.IndexOrder;
import io.zrecord.spark.scan.ReadSettings;
import io.zrecord.storage.Storage;
import io.zrecord.table.TableSnapshot;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/**
 * Divides what versions changed among tasks, in the order of versions. Reads lists of shards, and
 * which records a change moved to another partition. Belongs to one thread of the driver.
 */
public final class ChangeTasks {
  /** How many tasks a core gets, so that unequal ones even out. */
  private static final int TASKS_PER_CORE = 4;

  private final Storage storage;
  private final RecordSchema fields;
  private final boolean isTypeAsked;
  private final int parallelism;
  private final List<ChangePart> parts = new ArrayList<>();

  /**
   * Begins without changes.
   *
   * @param version the version whose columns are read
   * @param columns columns of the table, and those that say what a row is
   */
  public ChangeTasks(TableSnapshot version, StructType columns, int parallelism) {
    this.storage = version.storage();
    this.fields = fields(version, columns);
    this.isTypeAsked = columns.getFieldIndex(ChangeColumns.TYPE).isDefined();
    this.parallelism = parallelism;
  }

  /** Returns the fields of the columns that are the table's. */
  public static RecordSchema fields(TableSnapshot version, StructType columns) {
    return IndexOrder.fields(version, ChangeColumns.ofTable(columns));
  }

  /**
   * Returns what makes the readers of the tasks.
   *
   * @param version the version whose columns are read
   */
  public static PartitionReaderFactory readers(TableSnapshot version, ReadSettings settings) {
    StructType columns = settings.columns();
    return new ChangesReaderFactory(
        columns,
        fields(version, columns),
        settings.of(ChangeColumns.ofTable(columns)).bare());
  }

  /** Adds what a version changed. The tasks find out which records of the shards changed. */
  public void add(VersionChanges version) {
    // Nobody sees the difference between an update and a deletion with an insertion otherwise.
    RecordMoves moves = isTypeAsked ? version.moves(storage) : RecordMoves.NONE;
    IndexSet before = indices(moves, true);
    IndexSet after = indices(moves, false);
    long micros = micros(version.timestamp());
    for (ShardChanges changes : version.shards()) {
      parts.add(new ShardPart(
          changes, micros, within(before, changes, true), within(after, changes, false)));
    }
  }

  /** Adds records of a version as insertions, among those that the version has. */
  public void addInserted(TableSnapshot version, IndexSet indices) {
    ScanPlan.divide(version, fields.fields(), indices, SplitSizing.atLeast(parallelism)).stream()
        .map(split -> PlannedPart.of(ChangeType.INSERT, version, split))
        .forEach(parts::add);
  }

  private static IndexSet indices(RecordMoves moves, boolean isBefore) {
    IndexSet.Builder indices = new IndexSet.Builder();
    long[] all = new long[moves.count()];
    for (int i = 0; i < all.length; i++) {
      all[i] = isBefore ? moves.before(i) : moves.after(i);
    }
    Arrays.sort(all);
    for (long index : all) {
      indices.add(index, index + 1);
    }
    return indices.build();
  }

  /** Returns those indices that are in the shard of a change. */
  private static IndexSet within(IndexSet indices, ShardChanges changes, boolean isBefore) {
    ShardSummary shard = isBefore ? changes.before() : changes.after();
    long first = isBefore ? changes.firstBefore() : changes.firstAfter();
    return shard == null || indices.isEmpty()
        ? IndexSet.empty()
        : indices.intersect(IndexSet.range(first, first + shard.length()));
  }

  /** Returns the parts of the tasks. */
  public InputPartition[] divide() {
    int tasks = parallelism * TASKS_PER_CORE;
    int ofTask = Math.max(1, (parts.size() + tasks - 1) / tasks);
    List<InputPartition> partitions = new ArrayList<>();
    for (int i = 0; i < parts.size(); i += ofTask) {
      partitions.add(new ChangesPartition(
          TableLocation.of(storage),
          List.copyOf(parts.subList(i, Math.min(i + ofTask, parts.size())))));
    }
    return partitions.toArray(InputPartition[]::new);
  }

  static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }
}
