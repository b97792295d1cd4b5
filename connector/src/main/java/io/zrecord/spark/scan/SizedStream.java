package io.zrecord.spark.scan;

import java.util.OptionalLong;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;

/**
 * A stream that knows how large the batch is that is planned. What the table had when the stream
 * was opened says nothing of a batch. Lives on the driver.
 */
public interface SizedStream extends MicroBatchStream {
  /** Returns the number of rows of the batch; empty if nobody has counted them. */
  OptionalLong batchRows();

  /** Returns the bytes of the batch; empty if nobody has counted them. */
  OptionalLong batchBytes();
}
