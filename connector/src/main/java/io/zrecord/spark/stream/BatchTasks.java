package io.zrecord.spark.stream;

import org.apache.spark.sql.connector.read.InputPartition;

/** Divides a batch among tasks, in the order of versions. For one thread, on the driver. */
interface BatchTasks {
  /** Adds what is delivered of a version, from one position to another. */
  void add(VersionRecords records, long from, long to);

  /** Returns the parts of the tasks. */
  InputPartition[] divide();
}
