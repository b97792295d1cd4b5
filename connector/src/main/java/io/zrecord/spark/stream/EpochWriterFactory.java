package io.zrecord.spark.stream;

import io.zrecord.spark.write.ZRecordDataWriter;
import io.zrecord.spark.write.ZRecordWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;

/**
 * Makes the writers of an epoch, which write as those of a statement do.
 *
 * @param rows makes the writers of a statement
 */
record EpochWriterFactory(ZRecordWriterFactory rows) implements StreamingDataWriterFactory {
  @Override
  public ZRecordDataWriter createWriter(int partitionId, long taskId, long epochId) {
    return rows.createWriter(partitionId, taskId);
  }
}
