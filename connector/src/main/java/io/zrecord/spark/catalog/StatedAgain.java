package io.zrecord.spark.catalog;

import io.zrecord.spark.ddl.NewTable;
import io.zrecord.spark.options.TableProperties;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * What a statement says of a dataset that is there. The dataset says what it declares, so that the
 * statement may repeat this, and may say nothing else.
 *
 * @param name name of the table to create, for messages
 * @param path where the dataset is
 * @param table the dataset
 */
record StatedAgain(String name, String path, ZRecordTable table) {
  private static final String DEFAULT = "CURRENT_DEFAULT";

  /**
   * Refuses what the dataset does not declare.
   *
   * @throws IllegalArgumentException if there is something
   */
  void require(NewTable said) {
    StructType found = CharVarcharUtils.getRawSchema(table.schema());
    for (StructField column : said.columns().fields()) {
      Declaration.find(found, column.name()).ifPresent(there -> require(column, there));
    }
    if (!said.identities().isEmpty()) {
      throw refused("numbers for the column '" + said.identities().get(0).name() + "'");
    }
    if (!said.constraints().isEmpty()) {
      throw refused("constraints");
    }
    said.properties().forEach((key, value) -> {
      if (key.equals(TableProperties.COLLATION)) {
        TableProperties.requireBinary(name, value);
      } else if (!value.equals(table.properties().get(key))) {
        throw refused(
            key.equals(TableCatalog.PROP_COMMENT) ? "a comment" : "the property '" + key + "'");
      }
    });
  }

  private void require(StructField column, StructField there) {
    String of = " for the column '" + column.name() + "'";
    if (!column.nullable() && there.nullable()) {
      throw refused("NOT NULL" + of);
    }
    if (column.getComment().isDefined() && !column.getComment().equals(there.getComment())) {
      throw refused("a comment" + of);
    }
    Optional<String> said = defaultOf(column);
    if (said.isPresent() && !said.equals(defaultOf(there))) {
      throw refused("a default" + of);
    }
    String type = column.dataType().catalogString();
    if (type.contains("char(") && !Objects.equals(type, there.dataType().catalogString())) {
      throw refused("the type " + type + of);
    }
  }

  private static Optional<String> defaultOf(StructField column) {
    return column.metadata().contains(DEFAULT)
        ? Optional.of(column.metadata().getString(DEFAULT))
        : Optional.empty();
  }

  private IllegalArgumentException refused(String what) {
    return new IllegalArgumentException("Cannot create " + name + " at " + path + " with " + what
        + ", which the dataset there does not declare; create the table without columns and"
        + " properties, and alter the table");
  }
}
