package io.zrecord.spark.write;

/** Refuses NULL for a column that is NOT NULL. Stateless. */
public final class RequiredValue {
  private RequiredValue() {}

  /** Returns the error of a row that has NULL for the column. */
  public static IllegalArgumentException missing(String column) {
    return new IllegalArgumentException("Cannot write NULL to the column '" + column
        + "', which is declared NOT NULL; give a value, or drop NOT NULL from the declaration");
  }
}
