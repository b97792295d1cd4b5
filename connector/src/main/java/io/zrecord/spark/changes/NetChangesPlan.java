package io.zrecord.spark.changes;

import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.TableChanges;
import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.SplitSizing;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * Divides what differs between two versions into the parts of tasks. Reads manifests, lists of
 * shards, and which records changed. Lives on the driver.
 */
final class NetChangesPlan {
  private final Storage storage;
  private final RecordSchema fields;
  private final int parallelism;

  /** @param fields the fields to read */
  NetChangesPlan(Storage storage, RecordSchema fields, int parallelism) {
    this.storage = storage;
    this.fields = fields;
    this.parallelism = parallelism;
  }

  /** Returns what differs between two versions. */
  InputPartition[] between(long from, TableSnapshot to) {
    RecordChanges records = TableChanges.of(storage).net(from, to.version()).records();
    TaskParts parts = new TaskParts(storage, parallelism);
    if (!records.deleted().isEmpty() || !records.changedBefore().isEmpty()) {
      TableSnapshot before = RecordTable.at(storage).version(from);
      add(ChangeType.DELETE, before, records.deleted(), to, parts);
      add(ChangeType.UPDATE_PREIMAGE, before, records.changedBefore(), to, parts);
    }
    add(ChangeType.UPDATE_POSTIMAGE, to, records.changedAfter(), to, parts);
    add(ChangeType.INSERT, to, records.inserted(), to, parts);
    return parts.divide();
  }

  private void add(
      ChangeType type,
      TableSnapshot snapshot,
      IndexSet indices,
      TableSnapshot to,
      TaskParts parts) {
    ScanPlan.divide(snapshot, fields.fields(), indices, SplitSizing.atLeast(parallelism))
        .forEach(split -> parts.add(PlannedPart.of(type, to, split), split.bytes()));
  }
}
