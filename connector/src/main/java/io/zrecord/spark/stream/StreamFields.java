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
 */
record StreamFields(String location, TableSnapshot opened, RecordSchema schema) {
  /** Tells whether a field is read. */
  boolean has(int fieldId) {
    return schema.find(fieldId).isPresent();
  }

  /**
   * Requires that the records of a version have the fields of the stream.
   *
   * @throws SchemaMismatchException if a field was dropped, or got another type, or may be absent
   *     since the stream was opened
   */
  void requireReadable(TableSnapshot version) {
    if (version.version() <= opened.version()) {
      // Of a field that came later, records have the initial default. Types only became wider.
      return;
    }
    for (FieldSpec field : schema.fields()) {
      Optional<FieldSpec> now = version.schema().find(field.id());
      String what = now.isEmpty()
          ? "was dropped"
          : !now.get().type().equals(field.type()) || !now.get().shape().equals(field.shape())
              ? "has the type " + now.get().type() + " instead of " + field.type()
              : now.get().rules().isNullable() && !field.rules().isNullable()
                  ? "may be absent"
                  : "";
      if (!what.isEmpty()) {
        throw new SchemaMismatchException(
            location,
            "Cannot go on with the stream of " + location + ": field '" + field.name() + "' " + what
                + " in version " + version.version() + ", since the stream was opened at version "
                + opened.version() + "; stop the stream, make its data frame again, and start it"
                + " with the same checkpoint");
      }
    }
  }
}
