package io.zrecord.spark.ddl;

import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;

/**
 * Looks up the fields of a table by the names that a statement gives. Immutable.
 *
 * @param fields the fields
 * @param isCaseSensitive whether the session tells names apart by case
 */
public record FieldNames(RecordSchema fields, boolean isCaseSensitive) {
  /** Returns the names as the session of this thread compares them. */
  public static FieldNames of(RecordSchema fields) {
    return new FieldNames(fields, isSessionCaseSensitive());
  }

  static boolean isSessionCaseSensitive() {
    return Boolean.parseBoolean(
        SparkSession.active().conf().get("spark.sql.caseSensitive", "false"));
  }

  /** Returns the field of a name. One that has exactly the name goes first. */
  Optional<FieldSpec> find(String name) {
    Optional<FieldSpec> exact = fields.find(name);
    return exact.isPresent() || isCaseSensitive
        ? exact
        : fields.fields().stream()
            .filter(field -> field.name().equalsIgnoreCase(name))
            .findFirst();
  }
}
