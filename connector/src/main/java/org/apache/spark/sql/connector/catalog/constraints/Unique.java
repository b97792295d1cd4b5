package org.apache.spark.sql.connector.catalog.constraints;

import org.apache.spark.sql.connector.expressions.NamedReference;

/** Declares values that are unique. */
public abstract class Unique implements Constraint {
  private Unique() {}

  public abstract NamedReference[] columns();

  /** Makes the constraint. */
  public abstract static class Builder {
    private Builder() {}

    public abstract Object enforced(boolean enforced);

    public abstract Unique build();
  }
}
