package io.zrecord.spark.catalog;

import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.write.CheckedSessions;
import io.zrecord.spark.write.WriteTarget;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Shows the columns of a table that a statement may write. Spark gives a statement the same table
 * for all places that name the table, and writes into a view of a table that was loaded to be read.
 * So a table that is only read shows its columns in the same way.
 *
 * <p>Columns that the table numbers may be null, which stands for the next number.
 *
 * <p>In a session whose rules came late, all columns may be null, and the tasks of the write refuse
 * a NULL where there must be none. Otherwise Spark would find the NULL of an {@code INSERT …
 * VALUES} while it optimizes the statement, before a rule can give the error its words, and would
 * call that a bug of Spark. Stateless.
 */
final class WrittenColumns {
  private WrittenColumns() {}

  /** Returns the names of the columns that a write would number. */
  static Set<String> numbered(Optional<WriteTarget> target) {
    return target.flatMap(WriteTarget::base).map(DatasetVersion::numberedFields).orElse(Set.of());
  }

  /** Returns the columns as a statement sees them that may write them. */
  static StructType of(StructType columns, WriteTarget target) {
    Set<String> numbered = numbered(Optional.of(target));
    Predicate<StructField> mayBeNull = CheckedSessions.areAnalyzed()
        ? column -> column.nullable() || numbered.contains(column.name())
        : column -> true;
    return new StructType(Arrays.stream(columns.fields())
        .map(column -> new StructField(
            column.name(), column.dataType(), mayBeNull.test(column), column.metadata()))
        .toArray(StructField[]::new));
  }
}
