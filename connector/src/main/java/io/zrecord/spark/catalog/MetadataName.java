package io.zrecord.spark.catalog;

import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.path.Unsupported;
import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.sql.connector.catalog.Identifier;

/**
 * The name of a metadata table: that of a table, and after it what to show of the table, as in
 * {@code lake.vision.photos.versions}. Immutable.
 */
public record MetadataName(Identifier table, ViewName view) {

  /**
   * Takes a name apart; empty if it is not of this form. Does not look whether there is a table.
   */
  static Optional<MetadataName> of(Identifier identifier) {
    String[] namespace = identifier.namespace();
    if (namespace.length == 0) {
      return Optional.empty();
    }
    int last = namespace.length - 1;
    return ViewName.find(identifier.name())
        .map(view ->
            new MetadataName(Identifier.of(Arrays.copyOf(namespace, last), namespace[last]), view));
  }

  /** Returns the refusal of a statement that would change the metadata table. */
  UnsupportedOperationException refusal() {
    return Unsupported.operation(
        "changing the metadata table " + this + ", which only tells of " + table,
        "name " + table + " to change that");
  }

  @Override
  public String toString() {
    return table + "." + view;
  }
}
