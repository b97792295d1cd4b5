package org.apache.spark.sql.connector.catalog.constraints;

import org.apache.spark.sql.connector.expressions.NamedReference;

/** Declares a primary key. */
public abstract class PrimaryKey implements Constraint {
  private PrimaryKey() {}

  public abstract NamedReference[] columns();

  /** Makes the constraint. */
  public abstract static class Builder {
    private Builder() {}

    public abstract Object enforced(boolean enforced);

    public abstract PrimaryKey build();
  }
}
