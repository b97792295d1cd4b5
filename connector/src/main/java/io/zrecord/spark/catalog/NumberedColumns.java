package io.zrecord.spark.catalog;

import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.write.WriteTarget;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Shows the columns that a table numbers to statements that write. The values of such columns are
 * never null, but a row may leave them out: the column is null in that row then. Stateless.
 */
final class NumberedColumns {
  private NumberedColumns() {}

  /** Returns the names of the columns that a write would number. */
  static Set<String> of(Optional<WriteTarget> target) {
    return target.flatMap(WriteTarget::base).map(DatasetVersion::numberedFields).orElse(Set.of());
  }

  /** Returns the columns, of which the named ones may be null. */
  static StructType nullable(StructType columns, Set<String> numbered) {
    return new StructType(Arrays.stream(columns.fields())
        .map(column -> new StructField(
            column.name(),
            column.dataType(),
            column.nullable() || numbered.contains(column.name()),
            column.metadata()))
        .toArray(StructField[]::new));
  }
}
