package io.zrecord.spark.changes;

import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.TableChanges;
import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.SplitSizing;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;
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
    ScanPlan.divide(snapshot, fields.fields(), indices, SplitSizing.atLeast(parallelism)).stream()
        .map(split -> PlannedPart.of(type, to, split))
        .forEach(
            part -> partitions.add(new ChangesPartition(TableLocation.of(storage), List.of(part))));
  }
}
