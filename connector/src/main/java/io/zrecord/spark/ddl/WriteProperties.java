package io.zrecord.spark.ddl;

import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.options.SortKey;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.table.SchemaChange;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Keeps the properties that say options of writes true to the columns of a table that is altered.
 * Stateless.
 */
final class WriteProperties {
  private static final String ORDER = "write.order";
  private static final String COMPRESSION_OF = "write.compression.";

  private WriteProperties() {}

  /**
   * Requires that the properties say values of options that go together, and columns of the table.
   *
   * @throws IllegalArgumentException if a value is none, or there is no such column
   */
  static void require(SchemaChange plan, FieldNames names) {
    WriteConf conf =
        new WriteConf(CaseInsensitiveStringMap.empty(), plan.declarations().properties());
    for (SortKey key : conf.order()) {
      requireColumn(names, ORDER, key.column());
    }
    for (String field : conf.fieldsNamedByTable()) {
      requireColumn(names, COMPRESSION_OF + field, field);
    }
  }

  private static void requireColumn(FieldNames names, String property, String column) {
    if (names.find(column).isEmpty()) {
      throw new IllegalArgumentException("The property '" + property + "' names the column '"
          + column + "', which the table does not have; its columns are "
          + names.fields().fields().stream().map(FieldSpec::name).toList());
    }
  }

  /** Lets the properties follow a column to its new name. */
  static void rename(SchemaChange plan, String name, String newName) {
    List<SortKey> keys = order(plan);
    if (keys.stream().anyMatch(key -> isOf(key, name))) {
      String text = SortKey.text(
          keys.stream().map(key -> isOf(key, name) ? key.of(newName) : key).toList());
      plan.declare(declarations -> declarations.set(property(plan, ORDER), text));
    }
    String compression = property(plan, COMPRESSION_OF + name);
    String value = plan.declarations().properties().get(compression);
    if (value != null) {
      plan.declare(declarations -> {
        declarations.unset(compression);
        declarations.set(COMPRESSION_OF + newName, value);
      });
    }
  }

  /**
   * Takes properties of a column away that is dropped.
   *
   * @throws IllegalArgumentException if the table is sorted by the column
   */
  static void drop(SchemaChange plan, String name) {
    if (order(plan).stream().anyMatch(key -> isOf(key, name))) {
      throw new IllegalArgumentException("Cannot drop the column '" + name
          + "', by which the table is sorted, as its property '" + ORDER
          + "' says; unset the property or set another order first");
    }
    String compression = property(plan, COMPRESSION_OF + name);
    if (plan.declarations().properties().containsKey(compression)) {
      plan.declare(declarations -> declarations.unset(compression));
    }
  }

  private static boolean isOf(SortKey key, String name) {
    return key.column().equalsIgnoreCase(name);
  }

  private static List<SortKey> order(SchemaChange plan) {
    Map<String, String> properties = plan.declarations().properties();
    String text = properties.get(property(plan, ORDER));
    return text == null ? List.of() : SortKey.parse(text);
  }

  /** Returns a property as the table writes it, in small or in large letters. */
  private static String property(SchemaChange plan, String name) {
    return plan.declarations().properties().keySet().stream()
        .filter(name::equalsIgnoreCase)
        .findFirst()
        .orElse(name);
  }
}
