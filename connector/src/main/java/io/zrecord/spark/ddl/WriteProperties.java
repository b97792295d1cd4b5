package io.zrecord.spark.ddl;

import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.options.OptionValue;
import io.zrecord.spark.options.SortKey;
import io.zrecord.spark.options.TableProperties;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.table.SchemaChange;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

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
    WriteConf conf = WriteConf.ofTable(plan.declarations().properties());
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

  /**
   * Lets the properties follow a column to its new name.
   *
   * @param before the columns with the old name
   */
  static void rename(SchemaChange plan, FieldNames before, String name, String newName) {
    List<SortKey> keys = order(plan);
    if (keys.stream().anyMatch(key -> isOf(key.column(), before, name))) {
      String text = SortKey.text(keys.stream()
          .map(key -> isOf(key.column(), before, name) ? key.of(newName) : key)
          .toList());
      plan.declare(declarations -> declarations.set(nameOfOrder(plan), text));
    }
    compressionOf(plan, before, name).ifPresent(property -> {
      String value = Objects.requireNonNull(plan.declarations().properties().get(property));
      plan.declare(declarations -> {
        declarations.unset(property);
        declarations.set(COMPRESSION_OF + newName, value);
      });
    });
  }

  /**
   * Takes properties of a column away that is dropped.
   *
   * @param before the columns with the one that is dropped
   * @throws IllegalArgumentException if the table is sorted by the column
   */
  static void drop(SchemaChange plan, FieldNames before, String name) {
    if (order(plan).stream().anyMatch(key -> isOf(key.column(), before, name))) {
      throw new IllegalArgumentException("Cannot drop the column '" + name
          + "', by which the table is sorted, as its property '" + ORDER
          + "' says; unset the property or set another order first");
    }
    compressionOf(plan, before, name)
        .ifPresent(property -> plan.declare(declarations -> declarations.unset(property)));
  }

  private static boolean isOf(String said, FieldNames names, String name) {
    return names.find(said).filter(field -> field.name().equals(name)).isPresent();
  }

  private static List<SortKey> order(SchemaChange plan) {
    String text = plan.declarations().properties().get(nameOfOrder(plan));
    return text == null ? List.of() : OptionValue.parse(ORDER, text, SortKey::parse);
  }

  /** Returns the property of the order as the table writes it, in small or in large letters. */
  private static String nameOfOrder(SchemaChange plan) {
    return options(plan).filter(ORDER::equalsIgnoreCase).findFirst().orElse(ORDER);
  }

  /** Returns the property of the codec of a column; empty if there is none. */
  private static Optional<String> compressionOf(
      SchemaChange plan, FieldNames names, String column) {
    return options(plan)
        .filter(property -> property.toLowerCase(Locale.ROOT).startsWith(COMPRESSION_OF))
        .filter(property -> isOf(property.substring(COMPRESSION_OF.length()), names, column))
        .findFirst();
  }

  private static Stream<String> options(SchemaChange plan) {
    return plan.declarations().properties().keySet().stream()
        .filter(property -> property.startsWith(TableProperties.WRITE));
  }
}
