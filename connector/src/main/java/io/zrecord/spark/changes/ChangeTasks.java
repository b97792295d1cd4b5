package io.zrecord.spark.changes;

import io.zrecord.changes.RecordMoves;
import io.zrecord.changes.ShardChanges;
import io.zrecord.changes.VersionChanges;
import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.ScanPlan.ShardSlice;
import io.zrecord.scan.SplitSizing;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.scan.IndexOrder;
import io.zrecord.spark.scan.ReadSettings;
import io.zrecord.storage.Storage;
import io.zrecord.table.TableSnapshot;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
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
  private final Storage storage;
  private final RecordSchema fields;
  private final boolean isTypeAsked;
  private final int parallelism;
  private final TaskParts parts;

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
    this.parts = new TaskParts(storage, parallelism);
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
      IndexSet movedBefore = within(before, changes, true);
      IndexSet movedAfter = within(after, changes, false);
      long bytes = ChangedBytes.of(changes, fields);
      ShardSummary whole = changes.before() == null ? changes.after() : changes.before();
      boolean isWhole = changes.before() == null || changes.after() == null;
      if (whole != null && isWhole && movedBefore.isEmpty() && movedAfter.isEmpty()) {
        addWhole(changes, whole, micros, bytes);
      } else {
        // A task plans nothing, and sizes of thousands of fields would make it large.
        parts.add(new ShardPart(changes.withoutSizes(), micros, movedBefore, movedAfter), bytes);
      }
    }
  }

  /** Adds all records of a shard, in pieces if they are many. */
  private void addWhole(ShardChanges changes, ShardSummary shard, long micros, long bytes) {
    boolean isInserted = changes.before() == null;
    ChangeType type = isInserted ? ChangeType.INSERT : ChangeType.DELETE;
    long first = isInserted ? changes.firstAfter() : changes.firstBefore();
    ShardSummary bare = shard.withoutSizes();
    long pieces = Math.min(shard.length(), 1 + (bytes - 1) / TaskParts.mostBytes());
    for (long piece = 0; piece < pieces; piece++) {
      IndexSet indices = IndexSet.range(
          cut(shard.length(), piece, pieces), cut(shard.length(), piece + 1, pieces));
      ChangeSegment segment =
          new ChangeSegment(type, changes.version(), micros, new ShardSlice(bare, first, indices));
      parts.add(new PlannedPart(List.of(segment)), bytes / pieces);
    }
  }

  /** Returns {@code length · piece / pieces} without overflow. */
  private static long cut(long length, long piece, long pieces) {
    return length / pieces * piece + length % pieces * piece / pieces;
  }

  /** Adds records of a version as insertions, among those that the version has. */
  public void addInserted(TableSnapshot version, IndexSet indices) {
    ScanPlan.divide(version, fields.fields(), indices, SplitSizing.atLeast(parallelism))
        .forEach(
            split -> parts.add(PlannedPart.of(ChangeType.INSERT, version, split), split.bytes()));
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
    return parts.divide();
  }

  static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }
}
