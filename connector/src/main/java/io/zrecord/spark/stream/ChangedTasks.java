package io.zrecord.spark.stream;

import io.zrecord.changes.VersionChanges;
import io.zrecord.spark.changes.ChangeTasks;
import io.zrecord.spark.scan.ReadSettings;
import io.zrecord.table.TableSnapshot;
import java.util.OptionalLong;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.InputPartition;

/** Divides a batch of changes. Records are told as insertions. */
final class ChangedTasks implements BatchTasks {
  private final ChangeTasks tasks;

  /** @param opened the version whose columns the stream has */
  ChangedTasks(TableSnapshot opened, ReadSettings settings) {
    this.tasks = new ChangeTasks(
        opened, settings.columns(), SparkSession.active().sparkContext().defaultParallelism());
  }

  @Override
  public void add(VersionRecords records, long from, long to) {
    VersionChanges changes = records.changes();
    if (changes == null) {
      tasks.addInserted(records.version(), records.between(from, to));
    } else if (from < to) {
      tasks.add(changes);
    }
  }

  /** Returns none: the tasks find out which records changed. */
  @Override
  public OptionalLong rows() {
    return OptionalLong.empty();
  }

  @Override
  public OptionalLong bytes() {
    return OptionalLong.empty();
  }

  @Override
  public InputPartition[] divide() {
    return tasks.divide();
  }
}
