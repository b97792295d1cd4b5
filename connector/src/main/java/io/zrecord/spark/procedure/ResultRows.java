package io.zrecord.spark.procedure;

import java.util.List;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.CatalystTypeConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.types.StructType;

/**
 * The answer of a procedure.
 *
 * @param values those of each row, as Spark's external types
 */
record ResultRows(StructType readSchema, List<Object[]> values) implements LocalScan {
  @Override
  public InternalRow[] rows() {
    return values.stream()
        .map(row -> (InternalRow) CatalystTypeConverters.createToCatalystConverter(readSchema)
            .apply(RowFactory.create(row)))
        .toArray(InternalRow[]::new);
  }
}
