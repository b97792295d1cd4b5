package org.apache.spark.sql.connector.catalog.procedures;

import org.apache.spark.sql.types.DataType;

/**
 * A parameter of a procedure, from Spark 4.0 on. Declared here for the compiler: the jar does not
 * contain this copy, and before 4.0 nothing refers to it.
 */
public interface ProcedureParameter {
  @SuppressWarnings("DoNotCallSuggester") // Spark's own method does not throw.
  static Builder in(String name, DataType type) {
    throw new UnsupportedOperationException("Spark has the method");
  }

  /** Makes a parameter. */
  abstract class Builder {
    private Builder() {}

    public abstract Builder defaultValue(String sql);

    public abstract Builder comment(String comment);

    public abstract ProcedureParameter build();
  }
}
