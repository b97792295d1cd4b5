package io.zrecord.spark.ddl;

import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.Unsupported;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.connector.catalog.Column;
import org.jspecify.annotations.Nullable;

/**
 * A column that is {@code GENERATED … AS IDENTITY}, which Spark 4.0 and later say of a column.
 *
 * @param ordinal place of the column
 * @param name name of the column
 * @param start the first number
 * @param step what the next number is more
 * @param isGivenToo whether a row may bring a number of its own
 */
public record NumberedColumn(int ordinal, String name, long start, long step, boolean isGivenToo) {

  /**
   * Returns the numbered ones of the columns of a statement.
   *
   * @throws UnsupportedOperationException if a column is computed from others
   */
  static List<NumberedColumn> among(Column[] columns) {
    List<NumberedColumn> numbered = new ArrayList<>();
    for (int i = 0; i < columns.length; i++) {
      requireStored(columns[i]);
      Object identity = said(Column.class, columns[i], "identityColumnSpec");
      if (identity != null) {
        numbered.add(new NumberedColumn(
            i,
            columns[i].name(),
            (Long) of(identity, "getStart"),
            (Long) of(identity, "getStep"),
            (Boolean) of(identity, "isAllowExplicitInsert")));
      }
    }
    return numbered;
  }

  /** Returns the columns of a table that the table numbers. */
  static List<NumberedColumn> of(RecordSchema fields, List<Identity> identities) {
    List<NumberedColumn> numbered = new ArrayList<>();
    for (Identity identity : identities) {
      FieldSpec field = fields.find(identity.fieldId()).orElseThrow();
      numbered.add(new NumberedColumn(
          fields.ordinal(field.name()),
          field.name(),
          identity.start(),
          identity.step(),
          identity.generation() == Identity.Generation.BY_DEFAULT));
    }
    return numbered;
  }

  private static void requireStored(Column column) {
    if (column.generationExpression() != null) {
      throw Unsupported.operation(
          "the column '" + column.name() + "' GENERATED ALWAYS AS (" + column.generationExpression()
              + ")",
          "compute the column in the query that writes, or in a view");
    }
  }

  /**
   * Refuses columns that a catalog would forget to number.
   *
   * @param table name of the table, for the message
   * @throws UnsupportedOperationException if there is one
   */
  public static void requireNone(String table, Column[] columns) {
    requireNone(table, among(columns));
  }

  /** Refuses the same of a table of another data source. */
  public static void requireNone(String table, List<NumberedColumn> columns) {
    columns.stream().findFirst().ifPresent(numbered -> {
      throw Unsupported.operation(
          "numbering the column '" + numbered.name() + "' of " + table
              + ", which is of another data source",
          "create the table using " + ZRecordOptions.FORMAT);
    });
  }

  /** Returns the identity of the column's field. */
  Identity of(int fieldId) {
    return isGivenToo
        ? Identity.byDefault(fieldId, start, step)
        : Identity.always(fieldId, start, step);
  }

  private static Object of(Object identity, String what) {
    return Objects.requireNonNull(said(identity.getClass(), identity, what));
  }

  /** Calls a method that the compiler does not know; null if this Spark lacks the method. */
  private static @Nullable Object said(Class<?> type, Object object, String what) {
    try {
      return type.getMethod(what).invoke(object);
    } catch (NoSuchMethodException e) {
      return null;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This Spark has another " + type, e);
    }
  }
}
