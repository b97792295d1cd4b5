package org.apache.spark.sql.connector.catalog.constraints;

import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.expressions.NamedReference;

/** A constraint of a table. */
@SuppressWarnings("DoNotCallSuggester") // This copy of the methods is never called.
public interface Constraint {
  String name();

  boolean enforced();

  ValidationStatus validationStatus();

  boolean rely();

  String toDDL();

  String toDescription();

  static Check.Builder check(String name) {
    throw new UnsupportedOperationException(name);
  }

  static Unique.Builder unique(String name, NamedReference[] columns) {
    throw new UnsupportedOperationException(name);
  }

  static PrimaryKey.Builder primaryKey(String name, NamedReference[] columns) {
    throw new UnsupportedOperationException(name);
  }

  static ForeignKey.Builder foreignKey(
      String name, NamedReference[] columns, Identifier table, NamedReference[] referenced) {
    throw new UnsupportedOperationException(name);
  }

  /** Says whether the records that are there fulfil the constraint. */
  enum ValidationStatus {
    VALID,
    INVALID,
    UNVALIDATED
  }
}
