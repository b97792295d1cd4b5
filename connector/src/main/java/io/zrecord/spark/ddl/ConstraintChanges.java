package io.zrecord.spark.ddl;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.schema.Constraint;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.table.SchemaChange;
import io.zrecord.table.TableSnapshot;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.jspecify.annotations.Nullable;

/**
 * Adds and drops constraints as {@code ALTER TABLE} of Spark 4.1 and later says. The compiler does
 * not know these changes, because they are within a type of older Sparks. Stateless.
 */
final class ConstraintChanges {
  private static final String ADD = TableChange.class.getName() + "$AddConstraint";
  private static final String DROP = TableChange.class.getName() + "$DropConstraint";

  private ConstraintChanges() {}

  static boolean isAddition(TableChange change) {
    return change.getClass().getName().equals(ADD);
  }

  static boolean isRemoval(TableChange change) {
    return change.getClass().getName().equals(DROP);
  }

  /**
   * Adds a constraint. Spark has looked for records that break a check in one version of the table,
   * which must have the same records as the base.
   *
   * @throws CommitConflictException if the base has other records or fields
   */
  static void add(SchemaChange plan, TableSnapshot base, TableChange addition, FieldNames names) {
    Constraint constraint = SparkConstraints.of(
        (org.apache.spark.sql.connector.catalog.constraints.Constraint)
            Objects.requireNonNull(said(addition, "constraint")),
        names);
    if (constraint.isEnforced()) {
      requireValidated(base, constraint, (String) said(addition, "validatedTableVersion"));
    }
    if (constraint.kind() == Constraint.Kind.PRIMARY_KEY) {
      plan.declarations().constraints().stream()
          .filter(present -> present.kind() == Constraint.Kind.PRIMARY_KEY)
          .findFirst()
          .ifPresent(present -> {
            throw new IllegalArgumentException("Cannot add the primary key '" + constraint.name()
                + "' to " + base.storage().location() + ", which has the primary key '"
                + present.name() + "'; drop that one first");
          });
    }
    plan.declare(declarations -> declarations.add(constraint));
  }

  private static void requireValidated(
      TableSnapshot base, Constraint check, @Nullable String validated) {
    String location = base.storage().location();
    if (validated == null) {
      throw Unsupported.operation(
          "adding the check '" + check.name() + "' to " + location
              + " while the session reads an older version, whose records alone were validated",
          "unset the defaults of the session, such as spark.datasource.zrecord.versionAsOf");
    }
    if (!validated.equals(DatasetVersion.of(base).id())) {
      throw new CommitConflictException(
          location,
          "Cannot add the check '" + check.name() + "' to " + location + ": another commit changed"
              + " records or fields while the records were validated; run the statement again");
    }
  }

  /** Drops a constraint. */
  static void drop(SchemaChange plan, TableSnapshot base, TableChange removal, FieldNames names) {
    String name = String.valueOf(said(removal, "name"));
    if (String.valueOf(said(removal, "mode")).equals("CASCADE")) {
      throw Unsupported.operation(
          "DROP CONSTRAINT '" + name + "' CASCADE of " + base.storage().location()
              + ", which does not know the foreign keys of other tables",
          "leave CASCADE out");
    }
    Optional<String> found = find(plan, name, names.isCaseSensitive());
    if (found.isPresent() || !Boolean.TRUE.equals(said(removal, "ifExists"))) {
      plan.declare(declarations -> declarations.drop(found.orElse(name)));
    }
  }

  private static Optional<String> find(SchemaChange plan, String name, boolean isCaseSensitive) {
    Optional<String> exact = plan.declarations().constraint(name).map(Constraint::name);
    return exact.isPresent() || isCaseSensitive
        ? exact
        : plan.declarations().constraints().stream()
            .map(Constraint::name)
            .filter(name::equalsIgnoreCase)
            .findFirst();
  }

  private static @Nullable Object said(TableChange change, String what) {
    try {
      return change.getClass().getMethod(what).invoke(change);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This Spark has another " + change.getClass(), e);
    }
  }
}
