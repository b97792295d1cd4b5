package io.zrecord.store;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import java.util.ArrayList;
import java.util.List;

/**
 * Tells whether values that were made for another store may be written to this one: if the fields
 * have the same names and types in the same order. Values hold bytes by the ordinals of their
 * fields, so any others would be written to wrong fields. Thread-safe.
 */
final class ForeignValues {
  private static final int MAX_NAMED = 5;

  private final String location;
  private final RecordSchema schema;

  /** The last other schema that was found to be the same. */
  private volatile RecordSchema same;

  ForeignValues(String location, RecordSchema schema) {
    this.location = location;
    this.schema = schema;
    this.same = schema;
  }

  /**
   * Requires values of these fields. Values of this store cost one comparison of references.
   *
   * @throws SchemaMismatchException if the values have other fields; the message names them
   */
  @SuppressWarnings("ReferenceEquality") // Another schema is compared field by field.
  void require(RecordValues values) {
    RecordSchema given = values.schema();
    if (given != schema && given != same) {
      requireSame(given);
      same = given;
    }
  }

  private void requireSame(RecordSchema given) {
    List<String> differences = new ArrayList<>();
    int count = Math.max(schema.fields().size(), given.fields().size());
    for (int i = 0; i < count; i++) {
      String mine = describe(schema, i);
      String others = describe(given, i);
      if (!mine.equals(others)) {
        differences.add("field " + (i + 1) + " is " + others + " instead of " + mine);
      }
    }
    if (!differences.isEmpty()) {
      String more = differences.size() > MAX_NAMED
          ? " and " + (differences.size() - MAX_NAMED) + " more"
          : "";
      throw new SchemaMismatchException(
          location,
          "Cannot write to " + location + ": the values were made for other fields: "
              + String.join(", ", differences.subList(0, Math.min(MAX_NAMED, differences.size())))
              + more + ". Make them by newValues() of this store");
    }
  }

  private static String describe(RecordSchema schema, int ordinal) {
    if (ordinal >= schema.fields().size()) {
      return "missing";
    }
    FieldSpec field = schema.fields().get(ordinal);
    return "'" + field.name() + "' of type " + field.type()
        + (field.shape().isScalar() ? "" : " and shape " + field.shape());
  }
}
