package io.zrecord.table;

import io.zrecord.schema.RecordSchema;
import java.util.function.ToIntFunction;

/** A place among the fields of a table. Immutable. */
public final class FieldPlace {
  private static final FieldPlace FIRST = new FieldPlace("first", schema -> 0);
  private static final FieldPlace LAST =
      new FieldPlace("last", schema -> schema.fields().size());

  private final String text;
  private final ToIntFunction<RecordSchema> ordinal;

  private FieldPlace(String text, ToIntFunction<RecordSchema> ordinal) {
    this.text = text;
    this.ordinal = ordinal;
  }

  /** Returns the place before all other fields. */
  public static FieldPlace first() {
    return FIRST;
  }

  /** Returns the place after all other fields. */
  public static FieldPlace last() {
    return LAST;
  }

  /** Returns the place right after the field of a name. */
  public static FieldPlace after(String name) {
    return new FieldPlace("after '" + name + "'", schema -> schema.ordinal(name) + 1);
  }

  /**
   * Returns where a field comes in a list of the other fields.
   *
   * @throws IllegalArgumentException if there is no field after which it could come
   */
  int in(RecordSchema others) {
    return ordinal.applyAsInt(others);
  }

  @Override
  public String toString() {
    return text;
  }
}
