package io.zrecord.spark.scan;

import io.zrecord.spark.options.ZRecordOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * Answers {@code count(*)} from metadata: a row for each group, with its values, and then the
 * number of its records in every column. Without groups there is one row.
 *
 * @param location location of the dataset, for the plan that a user sees
 * @param groups the columns by which records are grouped
 * @param columnCount number of columns with counts
 * @param counts the answers, by the values of the groups as Spark's rows have them
 */
record CountScan(
    String location, StructType groups, int columnCount, Map<List<@Nullable Object>, Long> counts)
    implements LocalScan {
  /** Returns the scan as one that a task answers, whose plan names the dataset. */
  CountTask byTask() {
    return new CountTask(this);
  }

  @Override
  public InternalRow[] rows() {
    List<InternalRow> rows = new ArrayList<>();
    counts.forEach((group, count) -> {
      @Nullable Object[] values = new Object[group.size() + columnCount];
      for (int i = 0; i < values.length; i++) {
        values[i] = i < group.size() ? group.get(i) : count;
      }
      rows.add(new GenericInternalRow(values));
    });
    return rows.toArray(InternalRow[]::new);
  }

  @Override
  public StructType readSchema() {
    StructType schema = groups;
    for (int i = 0; i < columnCount; i++) {
      schema = schema.add("count_" + i, DataTypes.LongType, false);
    }
    return schema;
  }

  @Override
  public String description() {
    return ZRecordOptions.FORMAT + " " + location + ": count from metadata"
        + (groups.isEmpty() ? "" : " by " + String.join(", ", groups.fieldNames()));
  }
}
