package io.zrecord;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Numbers the fields of a write as in the table; fields that are new get new numbers. Stateless.
 */
final class FieldIds {
  private FieldIds() {}

  /**
   * Numbers the fields of an append, which must be those of the table by name, type and shape, in
   * any order. A field that the table numbers may be left out, and comes last then.
   *
   * @throws SchemaMismatchException that names every mismatch at once
   */
  static RecordSchema forAppend(TableSnapshot base, RecordSchema wanted) {
    List<FieldSpec> numbered = new ArrayList<>();
    List<String> mismatches = new ArrayList<>();
    for (FieldSpec field : wanted.fields()) {
      Optional<FieldSpec> present = base.schema().find(field.name());
      if (present.isEmpty()) {
        mismatches.add("field '" + field.name() + "' is not in the table");
      } else if (!isSame(present.get(), field)) {
        mismatches.add("field '" + field.name() + "' is " + describe(field) + ", but "
            + describe(present.get()) + " in the table");
      } else {
        numbered.add(present.get().withCompression(field.compression()));
      }
    }
    for (FieldSpec field : base.schema().fields()) {
      if (wanted.find(field.name()).isPresent()) {
        continue;
      }
      if (base.declarations().identity(field.id()).isPresent()) {
        numbered.add(field);
      } else {
        mismatches.add("field '" + field.name() + "' of the table is missing");
      }
    }
    if (!mismatches.isEmpty()) {
      String location = base.storage().location();
      throw new SchemaMismatchException(
          location, "Cannot append to " + location + ": " + String.join("; ", mismatches));
    }
    return new RecordSchema(numbered);
  }

  /**
   * Numbers the fields of an overwrite. A field of the same name, type and shape keeps its number;
   * every other field gets a number that was never used.
   */
  static RecordSchema forOverwrite(TableSnapshot base, RecordSchema wanted) {
    int next = base.nextFieldId();
    List<FieldSpec> numbered = new ArrayList<>();
    for (FieldSpec field : wanted.fields()) {
      Optional<FieldSpec> present =
          base.schema().find(field.name()).filter(same -> isSame(same, field));
      numbered.add(field.withId(present.isPresent() ? present.get().id() : next++));
    }
    return new RecordSchema(numbered);
  }

  private static boolean isSame(FieldSpec present, FieldSpec wanted) {
    return present.type().equals(wanted.type()) && present.shape().equals(wanted.shape());
  }

  private static String describe(FieldSpec field) {
    return field.type() + (field.shape().isScalar() ? "" : field.shape().toString());
  }
}
