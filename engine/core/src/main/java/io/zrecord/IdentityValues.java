package io.zrecord;

import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.Identity.Generation;
import io.zrecord.schema.RecordSchema;
import io.zrecord.table.IdentityNumbers;

/** Gives numbers of an identity to the records of one appender. Belongs to one thread. */
final class IdentityValues {
  private final Identity identity;
  private final int ordinal;
  private final String name;
  private final IdentityNumbers numbers;

  IdentityValues(
      IdentityNumbers.Reservations reservations, RecordSchema schema, Identity identity) {
    FieldSpec field = schema.find(identity.fieldId()).orElseThrow();
    this.identity = identity;
    this.ordinal = schema.fields().indexOf(field);
    this.name = field.name();
    this.numbers = IdentityNumbers.of(reservations, identity, name);
  }

  /** Returns the ordinal of the field in the schema of the appender. */
  int ordinal() {
    return ordinal;
  }

  /** Requires that a record may bring a value of a field. */
  void requireGiven(int ordinalOfField) {
    if (ordinalOfField == ordinal && identity.generation() == Generation.ALWAYS) {
      throw new IllegalArgumentException("Field '" + name + "' is always generated, and takes no"
          + " value; leave the field out, or declare an identity by default");
    }
  }

  /** Returns a number that no other record has. */
  long next() {
    return numbers.next();
  }
}
