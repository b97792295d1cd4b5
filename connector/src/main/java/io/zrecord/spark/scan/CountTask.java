package io.zrecord.spark.scan;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.types.StructType;

/**
 * Answers {@code count(*)} from metadata by a task, which reads nothing.
 *
 * @param count the answer
 */
record CountTask(CountScan count) implements Scan, Batch {
  private record Answer(int columnCount, long recordCount) implements InputPartition {}

  private record Factory() implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      return new Reader((Answer) partition);
    }
  }

  @Override
  public StructType readSchema() {
    return count.readSchema();
  }

  @Override
  public String description() {
    return count.description();
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public InputPartition[] planInputPartitions() {
    return new InputPartition[] {new Answer(count.columnCount(), count.recordCount())};
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new Factory();
  }

  /** Reads the one row. */
  private static final class Reader implements PartitionReader<InternalRow> {
    private final InternalRow row;
    private boolean isRead;

    Reader(Answer answer) {
      Object[] values = new Object[answer.columnCount()];
      java.util.Arrays.fill(values, answer.recordCount());
      this.row = new GenericInternalRow(values);
    }

    @Override
    public boolean next() {
      boolean isFirst = !isRead;
      isRead = true;
      return isFirst;
    }

    @Override
    public InternalRow get() {
      return row;
    }

    @Override
    public void close() {}
  }
}
