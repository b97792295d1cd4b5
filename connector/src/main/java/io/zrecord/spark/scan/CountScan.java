package io.zrecord.spark.scan;

import io.zrecord.spark.options.ZRecordOptions;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Answers {@code count(*)} from metadata: one row, in which every column is the number of records.
 *
 * @param location location of the dataset, for the plan that a user sees
 * @param columnCount number of columns
 * @param recordCount the answer
 */
record CountScan(String location, int columnCount, long recordCount) implements LocalScan {
  /** Returns the scan as one that a task answers, whose plan names the dataset. */
  CountTask byTask() {
    return new CountTask(this);
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
    return ZRecordOptions.FORMAT + " " + location + ": count from metadata";
  }
}
