package io.zrecord.spark.ddl;

import io.zrecord.schema.Constraint.Reference;
import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.path.Unsupported;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.constraints.Check;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import org.apache.spark.sql.connector.catalog.constraints.ForeignKey;
import org.apache.spark.sql.connector.catalog.constraints.PrimaryKey;
import org.apache.spark.sql.connector.catalog.constraints.Unique;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;

/**
 * Translates the constraints of a table from and to those of Spark 4.1 and later. Older Sparks do
 * not load this class. Stateless.
 */
final class SparkConstraints {
  private SparkConstraints() {}

  /**
   * Returns what a statement declares.
   *
   * @throws UnsupportedOperationException if Spark must not evaluate a check, or the statement says
   *     what no table keeps
   */
  static io.zrecord.schema.Constraint of(Constraint declared, FieldNames names) {
    String name = declared.name();
    CheckCondition.requireShowable("the name of the constraint '" + name + "'", name);
    if (declared.rely()) {
      throw Unsupported.operation("RELY of the constraint '" + name + "'", "leave RELY out");
    }
    if (declared instanceof Check check) {
      CheckCondition condition = CheckCondition.of(check.predicateSql(), names);
      return io.zrecord.schema.Constraint.check(name, condition.sql(), condition.fieldIds());
    }
    if (declared.enforced()) {
      throw Unsupported.operation(
          "enforcing the constraint '" + name + "', which compares records",
          "leave ENFORCED out: only a CHECK is enforced");
    }
    if (declared instanceof PrimaryKey key) {
      return io.zrecord.schema.Constraint.primaryKey(name, fieldIds(name, key.columns(), names));
    }
    if (declared instanceof Unique key) {
      return io.zrecord.schema.Constraint.unique(name, fieldIds(name, key.columns(), names));
    }
    if (declared instanceof ForeignKey key) {
      return io.zrecord.schema.Constraint.foreignKey(
          name,
          fieldIds(name, key.columns(), names),
          new Reference(
              text(key.referencedTable()),
              Arrays.stream(key.referencedColumns())
                  .map(column -> String.join(".", column.fieldNames()))
                  .toList()));
    }
    throw Unsupported.operation(
        "the constraint " + declared.toDDL(), "use CHECK, PRIMARY KEY, UNIQUE or FOREIGN KEY");
  }

  private static List<Integer> fieldIds(
      String constraint, NamedReference[] columns, FieldNames names) {
    return Arrays.stream(columns)
        .map(column -> String.join(".", column.fieldNames()))
        .map(column -> names
            .find(column)
            .map(FieldSpec::id)
            .orElseThrow(() -> new IllegalArgumentException("Constraint '" + constraint
                + "' names the column '" + column + "': there is no such column; the columns are "
                + names.fields().fields().stream().map(FieldSpec::name).toList())))
        .toList();
  }

  private static String text(Identifier table) {
    return Stream.concat(Arrays.stream(table.namespace()), Stream.of(table.name()))
        .map(NameParts::quoted)
        .collect(Collectors.joining("."));
  }

  /** Returns a constraint as Spark shows it. Spark evaluates all that are a {@link Check}. */
  static Constraint shown(
      io.zrecord.schema.Constraint constraint, boolean isEvaluable, FieldNames names) {
    String name = constraint.name();
    NamedReference[] columns = constraint.fieldIds().stream()
        .map(id -> names.fields().find(id).map(FieldSpec::name).orElse("#" + id))
        .map(SparkConstraints::column)
        .toArray(NamedReference[]::new);
    return switch (constraint.kind()) {
      case CHECK -> isEvaluable ? check(constraint) : new ShownCheck(constraint);
      case PRIMARY_KEY -> {
        PrimaryKey.Builder key = Constraint.primaryKey(name, columns);
        key.enforced(false);
        yield key.build();
      }
      case UNIQUE -> {
        Unique.Builder key = Constraint.unique(name, columns);
        key.enforced(false);
        yield key.build();
      }
      case FOREIGN_KEY -> {
        Reference references = constraint.references().orElseThrow();
        ForeignKey.Builder key = Constraint.foreignKey(
            name,
            columns,
            identifier(references.table()),
            references.columns().stream()
                .map(SparkConstraints::column)
                .toArray(NamedReference[]::new));
        key.enforced(false);
        yield key.build();
      }
    };
  }

  private static Check check(io.zrecord.schema.Constraint constraint) {
    Check.Builder check = Constraint.check(constraint.name()).predicateSql(constraint.sql());
    check.validationStatus(Constraint.ValidationStatus.VALID);
    return check.build();
  }

  private static NamedReference column(String name) {
    return Expressions.column("`" + name.replace("`", "``") + "`");
  }

  /** Returns the table that a text names, which is one name if it is not of quoted names. */
  private static Identifier identifier(String table) {
    Optional<List<String>> names = NameParts.parsed(table);
    if (names.isEmpty()) {
      return Identifier.of(new String[0], table);
    }
    List<String> parts = names.get();
    return Identifier.of(
        parts.subList(0, parts.size() - 1).toArray(String[]::new), parts.get(parts.size() - 1));
  }

  /**
   * A check that Spark shows and does not evaluate: one that is not enforced, or of which Spark
   * must not evaluate the text. Then the table refuses to be written.
   */
  private record ShownCheck(io.zrecord.schema.Constraint constraint) implements Constraint {
    @Override
    public String name() {
      return constraint.name();
    }

    @Override
    public boolean enforced() {
      return constraint.isEnforced();
    }

    @Override
    public ValidationStatus validationStatus() {
      return enforced() ? ValidationStatus.VALID : ValidationStatus.UNVALIDATED;
    }

    @Override
    public boolean rely() {
      return false;
    }

    @Override
    public String toDDL() {
      return "CONSTRAINT " + name() + " " + toDescription();
    }

    @Override
    public String toDescription() {
      return "CHECK (" + constraint.sql() + ")" + (enforced() ? " ENFORCED" : " NOT ENFORCED");
    }
  }
}
