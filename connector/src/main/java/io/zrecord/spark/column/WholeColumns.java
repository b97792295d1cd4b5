package io.zrecord.spark.column;

import java.util.Arrays;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Leaves columns out of a scan. A nested value is read whole, also if Spark asks for some members
 * of a struct, which it takes by their places among all of them then. Stateless.
 */
public final class WholeColumns {
  private WholeColumns() {}

  /**
   * Returns the required columns with their whole types.
   *
   * @param declared all columns; a required column that is not among them stays as it is
   */
  public static StructType of(StructType declared, StructType required) {
    return new StructType(Arrays.stream(required.fields())
        .map(column -> declared.getFieldIndex(column.name()).isDefined()
            ? declared.apply(column.name())
            : column)
        .toArray(StructField[]::new));
  }
}
