package io.zrecord.spark.scan;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
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
  private record Answer(ArrayList<InternalRow> rows) implements InputPartition {}

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
    return new InputPartition[] {new Answer(new ArrayList<>(List.of(count.rows())))};
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new Factory();
  }

  /** Reads the rows. */
  private static final class Reader implements PartitionReader<InternalRow> {
    private final List<InternalRow> rows;
    private int read = -1;

    Reader(Answer answer) {
      this.rows = answer.rows();
    }

    @Override
    public boolean next() {
      read++;
      return read < rows.size();
    }

    @Override
    public InternalRow get() {
      return rows.get(read);
    }

    @Override
    public void close() {}
  }
}
