package io.zrecord.spark;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Answers {@code count(*)} from metadata: one row, in which every column is the number of records. */
final class CountScan implements LocalScan {
  private final String location;
  private final int columnCount;
  private final long recordCount;

  CountScan(String location, int columnCount, long recordCount) {
    this.location = location;
    this.columnCount = columnCount;
    this.recordCount = recordCount;
  }

  @Override
  public InternalRow[] rows() {
    Object[] values = new Object[columnCount];
    Arrays.fill(values, recordCount);
    return new InternalRow[] {new GenericInternalRow(values)};
  }

  @Override
  public StructType readSchema() {
    StructType schema = new StructType();
    for (int i = 0; i < columnCount; i++) {
      schema = schema.add("count_" + i, DataTypes.LongType, false);
    }
    return schema;
  }

  @Override
  public String description() {
    return ZRecordSource.SHORT_NAME + " " + location + ": count from metadata";
  }
}
