package io.zrecord.spark.scan;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import java.io.Serializable;

/**
 * Says that shards of other versions are read, in which a field may have a wider type than the
 * column has: the table was rolled back to a version with the narrower type. Values that fit are
 * converted. Immutable.
 *
 * @param location the table, for messages
 * @param aim what cannot be done if a value does not fit, as {@code read …}
 * @param remedy what to do then
 */
public record WiderTypes(String location, String aim, String remedy) implements Serializable {
  /**
   * Makes what says that a value does not fit.
   *
   * @param field the field with the narrower type
   * @param type the wider type
   * @param value the value as text
   */
  SchemaMismatchException refusal(FieldSpec field, ElementType type, String value) {
    return new SchemaMismatchException(
        location,
        "Cannot " + aim + ": field '" + field.name() + "' has the value " + value + " of type "
            + type + ", and the type is " + field.type() + ", as the table was rolled back; "
            + remedy);
  }
}
