package io.zrecord.schema;

import io.zrecord.errors.UnsupportedFormatException;
import java.io.Serializable;

/**
 * Names a field that this release cannot read, because the field uses a feature of a later release.
 * The other fields of the dataset can be read. Immutable.
 *
 * @param id number of the field
 * @param name name of the field, which no other field has
 * @param feature the unknown feature, or the member and its unknown value, as in {@code dtype
 *     f8_e4m3}
 */
public record UnreadableField(int id, String name, String feature) implements Serializable {
  public UnreadableField {
    FieldSpec.requireIdAndName(id, name);
  }

  /**
   * Returns the exception for a read of the field.
   *
   * @param location the dataset or the file
   */
  public UnsupportedFormatException exception(String location) {
    return new UnsupportedFormatException(
        location,
        "Cannot read field '" + name + "' of " + location + ": it uses the feature '" + feature
            + "', which this release does not know; upgrade zrecord");
  }
}
