package io.zrecord.schema;

import java.io.Serializable;
import java.util.List;
import java.util.Optional;

/**
 * Declares what is true of all records of a table (FORMAT.md section 7.12). Immutable.
 *
 * @param name 1 to 255 UTF-16 units, unique in the table
 * @param kind what is declared
 * @param fieldIds numbers of the fields that the constraint names, each once; for a check all
 *     fields that the expression reads
 * @param sql condition of a check in SQL, which is not false for any record; empty for other kinds
 * @param references what a foreign key refers to; empty for other kinds
 * @param isEnforced whether writers must refuse a record that breaks the constraint; only of a
 *     check
 */
public record Constraint(
    String name,
    Kind kind,
    List<Integer> fieldIds,
    String sql,
    Optional<Reference> references,
    boolean isEnforced) {
  private static final int MAX_NAME_LENGTH = 255;

  /** Says what a constraint declares. */
  public enum Kind {
    /** A condition on a record. */
    CHECK("check"),
    /** The fields are present, and no two records have the same values. Informative. */
    PRIMARY_KEY("primaryKey"),
    /** No two records have the same values. Informative. */
    UNIQUE("unique"),
    /** The values are those of a record of another table. Informative. */
    FOREIGN_KEY("foreignKey");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /** Returns the name in a manifest. */
    @Override
    public String toString() {
      return text;
    }
  }

  /**
   * Names what a foreign key refers to.
   *
   * @param table name of the other table, 1 to 4,096 UTF-16 units; nobody resolves the name
   * @param columns names of the columns there; empty for the primary key of the other table
   */
  public record Reference(String table, List<String> columns) implements Serializable {
    private static final int MAX_TABLE_LENGTH = 4096;

    public Reference {
      columns = List.copyOf(columns);
      Declarations.requireText("The table of a foreign key", table, 1, MAX_TABLE_LENGTH);
      columns.forEach(column -> Declarations.requireText(
          "A column of a foreign key", column, 1, Declarations.MAX_NAME_LENGTH));
    }
  }

  public Constraint {
    fieldIds = List.copyOf(fieldIds);
    Declarations.requireText("The name of a constraint", name, 1, MAX_NAME_LENGTH);
    boolean isCheck = kind == Kind.CHECK;
    Declarations.requireText(
        "The text of constraint '" + name + "'",
        sql,
        isCheck ? 1 : 0,
        isCheck ? Declarations.MAX_TEXT_LENGTH : 0);
    Declarations.requireIds("Constraint '" + name + "'", fieldIds);
    if (!isCheck && fieldIds.isEmpty()) {
      throw new IllegalArgumentException(
          "Constraint '" + name + "' is a key without fields; name at least one");
    }
    if (!isCheck && isEnforced) {
      throw new IllegalArgumentException(
          "Constraint '" + name + "' of kind " + kind + " cannot be enforced; only a check can");
    }
    if (references.isPresent() != (kind == Kind.FOREIGN_KEY)) {
      throw new IllegalArgumentException("Constraint '" + name + "' of kind " + kind
          + (references.isPresent() ? " refers to a table" : " refers to no table")
          + "; a foreign key does, other kinds do not");
    }
  }

  /** Makes a check that writers must evaluate. */
  public static Constraint check(String name, String sql, List<Integer> fieldIds) {
    return new Constraint(name, Kind.CHECK, fieldIds, sql, Optional.empty(), true);
  }

  /** Makes an informative primary key. */
  public static Constraint primaryKey(String name, List<Integer> fieldIds) {
    return new Constraint(name, Kind.PRIMARY_KEY, fieldIds, "", Optional.empty(), false);
  }

  /** Makes an informative constraint that values are unique. */
  public static Constraint unique(String name, List<Integer> fieldIds) {
    return new Constraint(name, Kind.UNIQUE, fieldIds, "", Optional.empty(), false);
  }

  /** Makes an informative foreign key. */
  public static Constraint foreignKey(String name, List<Integer> fieldIds, Reference references) {
    return new Constraint(name, Kind.FOREIGN_KEY, fieldIds, "", Optional.of(references), false);
  }

  /** Returns this constraint for writers to know of and not to evaluate. */
  public Constraint notEnforced() {
    return new Constraint(name, kind, fieldIds, sql, references, false);
  }

  int textLength() {
    return name.length()
        + sql.length()
        + references
            .map(other -> other.table.length()
                + other.columns.stream().mapToInt(String::length).sum())
            .orElse(0);
  }
}
