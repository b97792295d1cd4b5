package io.zrecord.spark.stream;

import java.util.OptionalLong;
import org.apache.spark.sql.connector.read.InputPartition;

/** Divides a batch among tasks, in the order of versions. For one thread, on the driver. */
interface BatchTasks {
  /** Adds what is delivered of a version, from one position to another. */
  void add(VersionRecords records, long from, long to);

  /** Returns the number of rows; empty if they are not counted before they are read. */
  OptionalLong rows();

  /** Returns about how many bytes the values of the rows have; empty if that is not known. */
  OptionalLong bytes();

  /** Returns the parts of the tasks. */
  InputPartition[] divide();
}
