package org.apache.spark.sql.connector.catalog.constraints;

/** A condition on each record, which Spark evaluates on every write. */
public abstract class Check implements Constraint {
  private Check() {}

  public abstract String predicateSql();

  /** Makes a check. */
  public abstract static class Builder {
    private Builder() {}

    public abstract Builder predicateSql(String sql);

    public abstract Object validationStatus(ValidationStatus status);

    public abstract Check build();
  }
}
