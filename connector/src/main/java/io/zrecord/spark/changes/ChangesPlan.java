package io.zrecord.spark.changes;

import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.RecordMoves;
import io.zrecord.changes.ShardChanges;
import io.zrecord.changes.TableChanges;
import io.zrecord.changes.VersionChanges;
import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.SplitSizing;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * Divides changes into the parts of tasks. Reads manifests and lists of shards, and for the net
 * changes also which records changed. Lives on the driver.
 */
final class ChangesPlan {
  /** How many tasks a core gets, so that unequal ones even out. */
  private static final int TASKS_PER_CORE = 4;

  private final Storage storage;
  private final RecordSchema fields;
  private final int parallelism;

  /** @param fields the fields to read */
  ChangesPlan(Storage storage, RecordSchema fields, int parallelism) {
    this.storage = storage;
    this.fields = fields;
    this.parallelism = parallelism;
  }

  /** Returns the changes of each version after one up to another. */
  InputPartition[] byVersion(long from, long to) {
    List<ChangePart> parts = new ArrayList<>();
    if (from < to) {
      TableChanges.of(storage).between(from, to).forEach(version -> add(version, parts));
    }
    int tasks = parallelism * TASKS_PER_CORE;
    int ofTask = Math.max(1, (parts.size() + tasks - 1) / tasks);
    List<InputPartition> partitions = new ArrayList<>();
    for (int i = 0; i < parts.size(); i += ofTask) {
      partitions.add(partition(parts.subList(i, Math.min(i + ofTask, parts.size()))));
    }
    return partitions.toArray(InputPartition[]::new);
  }

  private void add(VersionChanges version, List<ChangePart> parts) {
    RecordMoves moves = version.moves(storage);
    IndexSet before = indices(moves, true);
    IndexSet after = indices(moves, false);
    long micros = micros(version.timestamp());
    for (ShardChanges changes : version.shards()) {
      parts.add(new ShardPart(
          changes, micros, within(before, changes, true), within(after, changes, false)));
    }
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

  /** Returns what differs between two versions. */
  InputPartition[] net(long from, TableSnapshot to) {
    RecordChanges records = TableChanges.of(storage).net(from, to.version()).records();
    List<InputPartition> partitions = new ArrayList<>();
    if (!records.deleted().isEmpty() || !records.changedBefore().isEmpty()) {
      TableSnapshot before = RecordTable.at(storage).version(from);
      add(ChangeType.DELETE, before, records.deleted(), to, partitions);
      add(ChangeType.UPDATE_PREIMAGE, before, records.changedBefore(), to, partitions);
    }
    add(ChangeType.UPDATE_POSTIMAGE, to, records.changedAfter(), to, partitions);
    add(ChangeType.INSERT, to, records.inserted(), to, partitions);
    return partitions.toArray(InputPartition[]::new);
  }

  private void add(
      ChangeType type,
      TableSnapshot snapshot,
      IndexSet indices,
      TableSnapshot to,
      List<InputPartition> partitions) {
    long micros = micros(to.timestamp());
    ScanPlan.divide(snapshot, fields.fields(), indices, SplitSizing.atLeast(parallelism))
        .forEach(split -> partitions.add(partition(List.of(new PlannedPart(split.slices().stream()
            .map(slice -> new ChangeSegment(type, to.version(), micros, slice))
            .toList())))));
  }

  private ChangesPartition partition(List<ChangePart> parts) {
    return new ChangesPartition(TableLocation.of(storage), List.copyOf(parts));
  }

  private static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }
}
