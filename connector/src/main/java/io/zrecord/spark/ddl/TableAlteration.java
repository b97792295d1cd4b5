package io.zrecord.spark.ddl;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.column.DeclaredColumns;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.spark.column.StringLengths;
import io.zrecord.spark.options.TableProperties;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.write.FieldPlanner;
import io.zrecord.table.FieldPlace;
import io.zrecord.table.SchemaChange;
import io.zrecord.table.TableSnapshot;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableChange.AddColumn;
import org.apache.spark.sql.connector.catalog.TableChange.After;
import org.apache.spark.sql.connector.catalog.TableChange.ColumnChange;
import org.apache.spark.sql.connector.catalog.TableChange.ColumnPosition;
import org.apache.spark.sql.connector.catalog.TableChange.DeleteColumn;
import org.apache.spark.sql.connector.catalog.TableChange.First;
import org.apache.spark.sql.connector.catalog.TableChange.RemoveProperty;
import org.apache.spark.sql.connector.catalog.TableChange.RenameColumn;
import org.apache.spark.sql.connector.catalog.TableChange.SetProperty;
import org.apache.spark.sql.connector.catalog.TableChange.UpdateColumnComment;
import org.apache.spark.sql.connector.catalog.TableChange.UpdateColumnDefaultValue;
import org.apache.spark.sql.connector.catalog.TableChange.UpdateColumnNullability;
import org.apache.spark.sql.connector.catalog.TableChange.UpdateColumnPosition;
import org.apache.spark.sql.connector.catalog.TableChange.UpdateColumnType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;

/**
 * Changes the columns and the properties of a table as one statement says, by one commit that
 * touches no shard.
 */
public final class TableAlteration {
  private final ReadPaths table;
  private final String location;
  private final TableChange[] changes;
  private final boolean isCaseSensitive;

  private TableAlteration(ReadPaths table, TableChange[] changes) {
    this.table = table;
    this.location = table.found().get(0);
    this.changes = changes;
    this.isCaseSensitive = FieldNames.isSessionCaseSensitive();
  }

  /**
   * Commits changes, all of them or none. If another commit changes fields at the same time, the
   * names of the statement are looked up again.
   *
   * @param table one path
   * @throws CommitConflictException if others come first for a minute
   * @throws NotADatasetException if there is no table
   * @throws UnsupportedOperationException if a change is none that a table knows
   */
  public static void commit(ReadPaths table, TableChange... changes) {
    DatasetPath dataset = table.datasets().get(0);
    if (dataset.store().isPresent()) {
      throw Unsupported.operation(
          "changing the store at " + dataset.path() + ", which is written online",
          "append to it, which makes a table of it");
    }
    TableAlteration alteration = new TableAlteration(table, changes);
    alteration.requireValuesKept();
    Attempts attempts = new Attempts();
    for (boolean isCommitted = false; !isCommitted; ) {
      SchemaChange plan = alteration.plan(dataset.table().latest());
      isCommitted = attempts.isDone(plan::commit);
    }
    Reloads.committed(dataset.table().storage());
  }

  /**
   * Tells whether a whole column takes another type. Another commit can change the answer.
   *
   * @param table one path
   * @param base a version of the table
   */
  public static boolean promotes(ReadPaths table, TableSnapshot base, UpdateColumnType change) {
    try {
      new TableAlteration(table, new TableChange[] {change}).plan(base);
      return true;
    } catch (SchemaMismatchException | UnsupportedOperationException e) {
      return false;
    }
  }

  /**
   * Refuses {@code REPLACE COLUMNS} where a column would come again without its values, and a
   * column that is dropped twice.
   */
  private void requireValuesKept() {
    Set<String> dropped = new HashSet<>();
    for (TableChange change : changes) {
      if (change instanceof DeleteColumn delete) {
        String name = String.join(".", delete.fieldNames());
        if (!dropped.add(folded(name))) {
          throw new IllegalArgumentException("Cannot drop the column '" + name + "' twice of "
              + location + "; name each column once");
        }
      } else if (change instanceof AddColumn add
          && dropped.contains(folded(String.join(".", add.fieldNames())))) {
        throw Unsupported.operation(
            "replacing the column '" + String.join(".", add.fieldNames()) + "' of " + location
                + ", which would lose its values",
            "drop and add the columns that differ");
      }
    }
  }

  private String folded(String name) {
    return isCaseSensitive ? name : name.toLowerCase(java.util.Locale.ROOT);
  }

  private SchemaChange plan(TableSnapshot base) {
    SchemaChange plan = SchemaChange.of(base);
    for (TableChange change : changes) {
      if (change instanceof SetProperty set) {
        set(plan, set.property(), set.value());
      } else if (change instanceof RemoveProperty remove) {
        set(plan, remove.property(), null);
      } else if (change instanceof AddColumn add) {
        requireSomeKept(base, plan);
        requireNew(plan, top(add));
        plan.add(field(add), place(plan, add.position()).orElse(FieldPlace.last()));
      } else if (change instanceof ColumnChange column) {
        change(plan, column);
      } else if (ConstraintChanges.isAddition(change)) {
        ConstraintChanges.add(plan, base, change, names(plan));
      } else if (ConstraintChanges.isRemoval(change)) {
        ConstraintChanges.drop(plan, base, change, names(plan));
      } else {
        throw unsupported(change.getClass().getSimpleName());
      }
    }
    if (Arrays.stream(changes).anyMatch(TableAlteration::saysOptionOfWrites)) {
      WriteProperties.require(plan, names(plan));
    }
    return plan;
  }

  private static boolean saysOptionOfWrites(TableChange change) {
    return change instanceof SetProperty set && set.property().startsWith(TableProperties.WRITE);
  }

  private FieldNames names(SchemaChange plan) {
    return new FieldNames(plan.schema(), isCaseSensitive);
  }

  /** Refuses {@code REPLACE COLUMNS} where no column comes again. */
  private void requireSomeKept(TableSnapshot base, SchemaChange plan) {
    if (plan.schema().fields().isEmpty() && !base.schema().fields().isEmpty()) {
      throw Unsupported.operation(
          "replacing all columns of " + location + ", which would lose its values",
          "drop and add the columns that differ");
    }
  }

  /** Requires a name that no column has, as the session compares names. */
  private void requireNew(SchemaChange plan, String name) {
    names(plan).find(name).map(FieldSpec::name).ifPresent(present -> {
      throw new SchemaMismatchException(
          location,
          "Cannot give a column of " + location + " the name '" + name + "': the column '" + present
              + "' already exists; choose another name"
              + (present.equals(name)
                  ? ""
                  : ", or set spark.sql.caseSensitive=true to tell the two apart"));
    });
  }

  private UnsupportedOperationException unsupported(String change) {
    return Unsupported.operation(
        "the change " + change + " of " + location,
        "a table takes columns, comments, defaults, properties and constraints");
  }

  private void set(SchemaChange plan, String property, @Nullable String value) {
    boolean isComment = property.equals(TableCatalog.PROP_COMMENT);
    boolean isReserved = ReservedProperties.contains(property) && !isComment;
    boolean isThere = plan.declarations().properties().containsKey(property);
    // Another program may have set what no statement sets. A statement removes it.
    if (isReserved && (value != null || !isThere)) {
      ReservedProperties.requireTrue(table, property, value);
    } else if (value != null) {
      TableProperties.requireKept(property, value);
    }
    plan.declare(declarations -> {
      if (isComment) {
        declarations.comment(value == null ? "" : value);
      } else if (value == null || isReserved) {
        declarations.unset(property);
      } else {
        declarations.set(property, value);
      }
    });
  }

  private void change(SchemaChange plan, ColumnChange change) {
    Optional<String> found = find(plan.schema(), top(change));
    if (found.isEmpty() && change instanceof DeleteColumn delete && delete.ifExists()) {
      return;
    }
    String name = found.orElseThrow(() -> new IllegalArgumentException("Cannot change the column '"
        + top(change) + "' of " + location + ": there is no such column"));
    if (change instanceof DeleteColumn) {
      WriteProperties.drop(plan, names(plan), name);
      plan.drop(name);
    } else if (change instanceof RenameColumn rename) {
      if (MetadataColumns.areHiddenBy(rename.newName())) {
        throw new IllegalArgumentException("Cannot rename the column '" + name + "' of " + location
            + ": '" + rename.newName() + "' is the name of a metadata column; choose another name");
      }
      if (!name.equalsIgnoreCase(rename.newName()) || isCaseSensitive) {
        requireNew(plan, rename.newName());
      }
      FieldNames before = names(plan);
      plan.rename(name, rename.newName());
      WriteProperties.rename(plan, before, name, rename.newName());
    } else if (change instanceof UpdateColumnType update) {
      promote(plan, name, update);
    } else if (change instanceof UpdateColumnNullability update) {
      redefine(plan, name, rules -> rules.withNullable(update.nullable()));
    } else if (change instanceof UpdateColumnComment update) {
      redefine(
          plan,
          name,
          rules -> rules.withComment(update.newComment() == null ? "" : update.newComment()));
    } else if (change instanceof UpdateColumnPosition update) {
      if (update.position() instanceof After after
          && find(plan.schema(), after.column()).filter(name::equals).isPresent()) {
        throw new IllegalArgumentException("Cannot move the column '" + name + "' of " + location
            + " after itself; name another column");
      }
      plan.move(name, place(plan, update.position()).orElse(FieldPlace.last()));
    } else if (change instanceof UpdateColumnDefaultValue update) {
      FieldSpec field = plan.schema().fields().get(plan.schema().ordinal(name));
      String text = DeclaredColumns.requireSql(name, update.newDefaultValue());
      plan.redefine(
          name,
          current -> text.isEmpty()
              ? current.withRules(current.rules().withoutWrite())
              : DeclaredColumns.withDefault(current, SparkTypes.columnOf(field), text));
    } else {
      throw unsupported(change.getClass().getSimpleName());
    }
  }

  /** Returns the column that a change is of, which is not within another. */
  private String top(ColumnChange change) {
    if (change.fieldNames().length != 1) {
      throw Unsupported.operation(
          "changing '" + String.join(".", change.fieldNames()) + "' of " + location
              + " within a column",
          "add a column of the other type, and drop this one");
    }
    return change.fieldNames()[0];
  }

  /** Returns the field that a statement names, as the table has the name. */
  private Optional<String> find(RecordSchema schema, String name) {
    return new FieldNames(schema, isCaseSensitive).find(name).map(FieldSpec::name);
  }

  private Optional<FieldPlace> place(SchemaChange plan, @Nullable ColumnPosition position) {
    if (position instanceof First) {
      return Optional.of(FieldPlace.first());
    }
    return position instanceof After after
        ? Optional.of(FieldPlace.after(find(plan.schema(), after.column()).orElse(after.column())))
        : Optional.empty();
  }

  private static void redefine(SchemaChange plan, String name, UnaryOperator<FieldRules> rules) {
    plan.redefine(name, field -> field.withRules(rules.apply(field.rules())));
  }

  /** Returns the field of a column to add. Records that are there have the default of now. */
  private FieldSpec field(AddColumn add) {
    StructField column = new StructField(
        top(add),
        add.dataType(),
        add.isNullable(),
        DeclaredColumns.metadata(top(add), add.defaultValue()));
    if (add.comment() != null) {
      column = column.withComment(add.comment());
    }
    FieldSpec field = new FieldPlanner(
            location,
            new WriteConf(CaseInsensitiveStringMap.empty()),
            isCaseSensitive,
            true,
            List.of())
        .create(new StructType(new StructField[] {column}))
        .table()
        .fields()
        .get(0);
    return DeclaredColumns.withInitial(field, column);
  }

  private void promote(SchemaChange plan, String name, UpdateColumnType update) {
    FieldSpec field = plan.schema().fields().get(plan.schema().ordinal(name));
    if (StringLengths.allows(field, update.newDataType())) {
      plan.redefine(name, known -> StringLengths.kept(known, update.newDataType()));
      return;
    }
    if (SparkTypes.columnOf(field).dataType().equals(update.newDataType())) {
      return;
    }
    plan.promote(
        name,
        Optional.of(update.newDataType())
            .filter(type -> field.shape().isScalar() && !SparkTypes.isLimitedString(type))
            .flatMap(type -> SparkTypes.elementTypeOf(
                new StructField(name, type, true, Metadata.empty()), Optional.empty()))
            .orElseThrow(() -> Unsupported.operation(
                "changing the type of '" + name + "' of " + location + " to "
                    + update.newDataType().catalogString(),
                "add a column of that type, and drop this one")));
  }
}
