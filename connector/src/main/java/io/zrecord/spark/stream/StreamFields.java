package io.zrecord.spark.stream;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.table.TableSnapshot;
import java.util.Optional;

/**
 * The fields that a stream reads, as they were when the stream was opened. A later version may have
 * other fields besides, or other names. Immutable.
 *
 * @param location the table, for messages
 * @param opened the version whose fields they are
 * @param schema the fields
 * @param mayAllBeAbsent whether the columns of the stream may be NULL, whatever the fields declare
 */
record StreamFields(
    String location, TableSnapshot opened, RecordSchema schema, boolean mayAllBeAbsent) {
  /**
   * Requires that the records of a version have the fields of the stream.
   *
   * @throws SchemaMismatchException if a field was dropped, or got another type, or may be absent
   *     since the stream was opened
   */
  void requireReadable(TableSnapshot version) {
    boolean isLater = version.version() > opened.version();
    for (FieldSpec field : schema.fields()) {
      Optional<FieldSpec> there = version.schema().find(field.id());
      if (there.isEmpty() && !isLater) {
        continue; // The field came later, and the records have its initial default.
      }
      String what = there.isEmpty() ? "was dropped" : difference(field, there.get(), isLater);
      if (!what.isEmpty()) {
        throw new SchemaMismatchException(
            location,
            "Cannot go on with the stream of " + location + ": field '" + field.name() + "' " + what
                + " in version " + version.version() + ", and the stream was opened at version "
                + opened.version() + "; stop the stream, make its data frame again, and start it"
                + " with the same checkpoint");
      }
    }
  }

  /** Says how a field of a version is no field of the stream. Since older versions, types widen. */
  private String difference(FieldSpec field, FieldSpec there, boolean isLater) {
    if (isLater && (!there.type().equals(field.type()) || !there.shape().equals(field.shape()))) {
      return "has the type " + there.type() + " instead of " + field.type();
    }
    return !mayAllBeAbsent && there.rules().isNullable() && !field.rules().isNullable()
        ? "may be absent"
        : "";
  }
}
