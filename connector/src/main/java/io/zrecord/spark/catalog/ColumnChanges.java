package io.zrecord.spark.catalog;

import io.zrecord.spark.path.Unsupported;
import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableChange.AddColumn;
import org.apache.spark.sql.connector.catalog.TableChange.ColumnChange;
import org.apache.spark.sql.connector.catalog.TableChange.DeleteColumn;
import org.apache.spark.sql.connector.catalog.TableChange.RenameColumn;
import org.apache.spark.sql.connector.catalog.TableChange.UpdateColumnComment;
import org.apache.spark.sql.connector.catalog.TableChange.UpdateColumnDefaultValue;
import org.apache.spark.sql.connector.catalog.TableChange.UpdateColumnNullability;
import org.apache.spark.sql.connector.catalog.TableChange.UpdateColumnType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Decides which changes of declared columns a table accepts. Changing the declaration does not
 * change the dataset: a change is accepted if the dataset fits the result. Stateless.
 */
final class ColumnChanges {
  private ColumnChanges() {}

  /**
   * Checks the changes of a statement.
   *
   * @throws UnsupportedOperationException if the dataset would not have the declared columns
   */
  static void require(DeclaredTable table, TableChange... changes) {
    for (TableChange change : changes) {
      if (change instanceof ColumnChange column && !isAccepted(table, column)) {
        throw Unsupported.operation(
            "changing the column '" + String.join(".", column.fieldNames()) + "' of " + table.name()
                + ", whose dataset has other columns",
            "append with mergeSchema=true to " + table.location() + " to add a column, or replace"
                + " the table: create or replace table … using zrecord as select …");
      }
    }
  }

  private static boolean isAccepted(DeclaredTable table, ColumnChange change) {
    if (change instanceof UpdateColumnComment
        || change instanceof UpdateColumnDefaultValue
        || change instanceof UpdateColumnNullability) {
      return true;
    }
    if (table.isUnreadable()) {
      return false;
    }
    return table.found().isEmpty() || fits(table.found().get(), change);
  }

  private static boolean fits(StructType found, ColumnChange change) {
    String name = change.fieldNames()[0];
    if (change instanceof AddColumn add) {
      return has(found, name, add.dataType());
    }
    if (change instanceof UpdateColumnType update) {
      return has(found, name, update.newDataType());
    }
    boolean isThere = Arrays.stream(found.fieldNames()).anyMatch(name::equalsIgnoreCase);
    if (change instanceof RenameColumn rename) {
      return !isThere && Declaration.find(found, rename.newName()).isPresent();
    }
    return change instanceof DeleteColumn && !isThere;
  }

  private static boolean has(StructType found, String name, DataType type) {
    Optional<StructField> field = Declaration.find(found, name);
    return field.isPresent() && Declaration.isStoredAs(type, field.get().dataType());
  }
}
