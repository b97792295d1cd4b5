package org.apache.spark.sql.connector.catalog.constraints;

import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.expressions.NamedReference;

/** Declares values that are those of another table. */
public abstract class ForeignKey implements Constraint {
  private ForeignKey() {}

  public abstract NamedReference[] columns();

  public abstract Identifier referencedTable();

  public abstract NamedReference[] referencedColumns();

  /** Makes the constraint. */
  public abstract static class Builder {
    private Builder() {}

    public abstract Object enforced(boolean enforced);

    public abstract ForeignKey build();
  }
}
