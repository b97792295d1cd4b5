package io.zrecord.spark.stream;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Promotions;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.scan.WiderTypes;
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
  private static final String NEW_FRAME =
      "stop the stream, make its data frame again, and start it with the same checkpoint";

  private static final String NEW_CHECKPOINT = "start the stream with a new checkpoint";

  /** Returns what to do with records of versions in which a field had a wider type. */
  WiderTypes wider() {
    return new WiderTypes(location, "go on with the stream of " + location, NEW_CHECKPOINT);
  }

  /**
   * Requires that the records of a version have the fields of the stream.
   *
   * @throws SchemaMismatchException if a field was dropped, or got a wider type, since the stream
   *     was opened, or may be absent in the version
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
                + opened.version() + "; " + (isLater ? NEW_FRAME : NEW_CHECKPOINT));
      }
    }
  }

  /** Says how a field of a version is no field of the stream. */
  private String difference(FieldSpec field, FieldSpec there, boolean isLater) {
    // A later type is narrower after a rollback. An earlier one was wider before the rollback.
    boolean isRead = Promotions.allows(there.type(), field.type())
        || (!isLater && Promotions.allows(field.type(), there.type()));
    if (!isRead || !there.shape().equals(field.shape())) {
      return "has the type " + there.type() + " instead of " + field.type();
    }
    return !mayAllBeAbsent && there.rules().isNullable() && isNeverAbsent(field)
        ? "may be absent"
        : "";
  }

  /** Tells what the version declares: the fields to read have nothing that readers do not need. */
  private boolean isNeverAbsent(FieldSpec field) {
    return opened
        .schema()
        .find(field.id())
        .filter(declared -> !declared.rules().isNullable())
        .isPresent();
  }
}
