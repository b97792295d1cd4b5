package io.zrecord.schema;

import java.io.Serializable;
import java.util.Locale;

/**
 * Names a field by which writers order records (FORMAT.md section 7.12). Immutable.
 *
 * @param fieldId number of the field, so that a rename changes nothing
 * @param direction which values come first
 * @param nulls where records without a value come
 */
public record OrderField(int fieldId, Direction direction, Nulls nulls) implements Serializable {
  /** Says which values come first. */
  public enum Direction {
    /** The least value. */
    ASCENDING,
    /** The greatest value. */
    DESCENDING;

    /** Returns the name in a manifest. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Says where records without a value come. */
  public enum Nulls {
    /** Before all values. */
    FIRST,
    /** After all values. */
    LAST;

    /** Returns the name in a manifest. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public OrderField {
    Declarations.requireId("The write order", fieldId);
  }
}
