package io.zrecord.spark.write;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.ElementType.Kind;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.Identity.Generation;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.column.DeclaredColumns;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetVersion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Decides on the driver, before a task starts, which field each column of a write becomes. Reports
 * everything that does not fit at once.
 */
public final class FieldPlanner {
  private final String location;
  private final WriteConf conf;
  private final boolean isCaseSensitive;
  private final boolean definesColumns;
  private final Map<Integer, Identity> identities;

  /**
   * The effect of a write on the fields.
   *
   * @param table the fields of the table afterwards
   * @param written the field of each column, in the order of the columns; then the fields that no
   *     column has and that get their default or a number
   */
  public record Plan(RecordSchema table, List<FieldSpec> written) {
    /** Returns the plan with fields that no column has, and that tasks write nevertheless. */
    Plan writing(List<FieldSpec> fields) {
      List<FieldSpec> all = new ArrayList<>(written);
      fields.stream()
          .filter(field -> all.stream().noneMatch(other -> other.id() == field.id()))
          .forEach(all::add);
      return new Plan(table, List.copyOf(all));
    }
  }

  /**
   * Plans a write.
   *
   * @param definesColumns whether the columns are those of a {@code CREATE TABLE}, which declare
   *     more than those of a query
   * @param identities the fields that the table numbers
   */
  public FieldPlanner(
      String location,
      WriteConf conf,
      boolean isCaseSensitive,
      boolean definesColumns,
      List<Identity> identities) {
    this.location = location;
    this.conf = conf;
    this.isCaseSensitive = isCaseSensitive;
    this.definesColumns = definesColumns;
    this.identities = identities.stream().collect(Collectors.toMap(Identity::fieldId, id -> id));
  }

  /** Returns the fields for a new table. */
  public Plan create(StructType columns) {
    return replace(columns, List.of(), 1);
  }

  /**
   * Returns the fields for a table that is replaced. A field of the same name, type and shape keeps
   * its id.
   */
  Plan replace(StructType columns, DatasetVersion base) {
    return replace(columns, base.schema().fields(), base.nextFieldId());
  }

  /**
   * Returns the fields for a table whose records are replaced. A field of the same name, type and
   * shape keeps all that it declares, unless {@code overwriteSchema} is set. What applications said
   * of the fields goes with the records.
   */
  Plan overwrite(StructType columns, DatasetVersion base) {
    if (conf.overwritesSchema()) {
      return replace(columns, base);
    }
    List<FieldSpec> present = base.schema().fields();
    List<FieldSpec> written = new ArrayList<>();
    List<String> mismatches = new ArrayList<>();
    int nextId = base.nextFieldId();
    for (FieldSpec wanted : wanted(columns, column -> true)) {
      Optional<FieldSpec> match = find(present, wanted.name());
      Optional<String> mismatch =
          match.flatMap(field -> describeMismatch(field, adopt(wanted, field)));
      if (match.isPresent() && mismatch.isEmpty()) {
        StructField column = columns.apply(written.size());
        alwaysGenerated(match.get(), column).ifPresent(mismatches::add);
        written.add(ColumnMetadata.replaced(withAskedCompression(match.get()), column));
      } else {
        match.filter(FieldPlanner::isBinding).ifPresent(field -> mismatches.add(mismatch.get()));
        written.add(wanted.withId(nextId++));
      }
    }
    List<FieldSpec> missing = missing(present, columns);
    for (FieldSpec field : missing) {
      if (field.rules().writeHex() != null || identities.containsKey(field.id())) {
        written.add(ColumnMetadata.forgotten(withAskedCompression(field)));
      } else if (field.rules().hasDefaultExpression()) {
        mismatches.add(neverLeftOut(field));
      } else if (!field.rules().isNullable()) {
        mismatches.add(neverAbsent(field));
      }
    }
    if (!mismatches.isEmpty()) {
      throw new SchemaMismatchException(
          location,
          "Cannot overwrite " + location + ": " + String.join("; ", mismatches)
              + ". To replace what the fields declare as well, set "
              + ZRecordOptions.OVERWRITE_SCHEMA + "=true");
    }
    List<FieldSpec> table = new ArrayList<>(written);
    if (table.size() > columns.length()) {
      // The columns do not say where the fields belong that they lack.
      List<Integer> order = present.stream().map(FieldSpec::id).toList();
      table.sort(Comparator.comparingInt(
          field -> order.contains(field.id()) ? order.indexOf(field.id()) : Integer.MAX_VALUE));
    }
    requireFewMetadata(table);
    return new Plan(new RecordSchema(table), written);
  }

  private void requireFewMetadata(List<FieldSpec> fields) {
    try {
      ColumnMetadata.requireFew(fields);
    } catch (IllegalArgumentException e) {
      throw new SchemaMismatchException(
          location, "Cannot write to " + location + ": " + e.getMessage());
    }
  }

  /** Tells whether a field declares what a write must obey. */
  private static boolean isBinding(FieldSpec field) {
    return !field.rules().isNullable()
        || field.rules().writeHex() != null
        || field.rules().hasDefaultExpression();
  }

  private FieldSpec withAskedCompression(FieldSpec field) {
    return field.withCompression(conf.compressionOf(field.name()).orElse(field.compression()));
  }

  /** Returns the fields of a table for which there is no column. */
  private List<FieldSpec> missing(List<FieldSpec> present, StructType columns) {
    List<FieldSpec> missing = new ArrayList<>(present);
    for (String column : columns.fieldNames()) {
      find(present, column).ifPresent(missing::remove);
    }
    return missing;
  }

  private static String neverAbsent(FieldSpec field) {
    return "field '" + field.name() + "' of type " + describe(field)
        + " is NOT NULL, has no default, and is missing in the data (add the column)";
  }

  private static String neverLeftOut(FieldSpec field) {
    return "field '" + field.name() + "' has the default expression "
        + field.rules().defaultSql()
        + ", which only statements of SQL evaluate, and is missing in the data (add the column, or"
        + " INSERT with DEFAULT)";
  }

  /** Describes a column whose values are given, although the table generates them. */
  private Optional<String> alwaysGenerated(FieldSpec field, StructField column) {
    return Optional.ofNullable(identities.get(field.id()))
        .filter(identity -> identity.generation() == Generation.ALWAYS && !column.nullable())
        .map(identity -> "the values of field '" + field.name() + "' are always generated ("
            + NumberedField.REMEDY + ")");
  }

  /** Returns the fields for records that are added to those of a table. */
  Plan append(StructType columns, DatasetVersion base) {
    if (conf.overwritesSchema()) {
      throw new IllegalArgumentException("Cannot append to " + location + " with the option "
          + ZRecordOptions.OVERWRITE_SCHEMA + ", which replaces the fields; leave it out, or set "
          + ZRecordOptions.MERGE_SCHEMA + "=true to add fields");
    }
    List<FieldSpec> present = base.schema().fields();
    List<FieldSpec> table = new ArrayList<>(present);
    List<FieldSpec> written = new ArrayList<>();
    List<String> mismatches = new ArrayList<>();
    int nextId = base.nextFieldId();
    for (FieldSpec wanted :
        wanted(columns, column -> find(present, column.name()).isEmpty())) {
      Optional<FieldSpec> match = find(present, wanted.name());
      if (match.isPresent()) {
        FieldSpec field = match.get();
        describeMismatch(field, adopt(wanted, field)).ifPresent(mismatches::add);
        alwaysGenerated(field, columns.apply(written.size())).ifPresent(mismatches::add);
        written.add(withAskedCompression(field));
      } else if (conf.mergesSchema()) {
        FieldSpec added = wanted.withId(nextId++);
        table.add(added);
        written.add(added);
      } else {
        mismatches.add("column '" + wanted.name() + "' of type " + describe(wanted)
            + " is not in the table (set mergeSchema=true to add it)");
      }
    }
    for (FieldSpec field : missing(present, columns)) {
      if (field.rules().writeHex() != null || identities.containsKey(field.id())) {
        written.add(withAskedCompression(field));
      } else if (field.rules().hasDefaultExpression()) {
        mismatches.add(neverLeftOut(field));
      } else if (!field.rules().isNullable()) {
        mismatches.add(neverAbsent(field));
      } else if (!conf.mergesSchema()) {
        mismatches.add("field '" + field.name() + "' of type " + describe(field)
            + " is missing in the data (set mergeSchema=true to leave it absent)");
      } else if (field.rules().initialHex() != null) {
        // A shard that lacks the field would have the initial default, and not absent values.
        mismatches.add("field '" + field.name() + "' has an initial value, and is missing in the"
            + " data (add the column, with nulls if its values are absent)");
      }
    }
    if (!mismatches.isEmpty()) {
      throw new SchemaMismatchException(
          location, "Cannot append to " + location + ": " + String.join("; ", mismatches));
    }
    if (table.size() > present.size()) {
      requireFewMetadata(table);
    }
    return new Plan(new RecordSchema(table), written);
  }

  /**
   * Requires that columns are values of fields of a table.
   *
   * @throws SchemaMismatchException if there is no field of a name, or its type is another one
   */
  public void requireFit(StructType columns, RecordSchema schema) {
    List<String> mismatches = new ArrayList<>();
    for (FieldSpec wanted : wanted(columns, column -> false)) {
      FieldSpec field = schema.fields().get(schema.ordinal(wanted.name()));
      describeMismatch(field, adopt(wanted, field)).ifPresent(mismatches::add);
    }
    if (!mismatches.isEmpty()) {
      throw new SchemaMismatchException(
          location, "Cannot change values of " + location + ": " + String.join("; ", mismatches));
    }
  }

  private Plan replace(StructType columns, List<FieldSpec> present, int firstFreeId) {
    int nextId = firstFreeId;
    List<FieldSpec> fields = new ArrayList<>();
    for (FieldSpec wanted : wanted(columns, column -> true)) {
      Optional<FieldSpec> same = present.stream()
          .filter(f -> f.name().equals(wanted.name())
              && f.type().equals(wanted.type())
              && f.shape().equals(wanted.shape()))
          .findFirst();
      fields.add(same.isPresent() ? withInitialOf(wanted, same.get()) : wanted.withId(nextId++));
    }
    requireFewMetadata(fields);
    return new Plan(new RecordSchema(fields), fields);
  }

  /** Returns a field in the place of another one, whose older records keep their initial value. */
  private static FieldSpec withInitialOf(FieldSpec wanted, FieldSpec same) {
    FieldSpec field = wanted.withId(same.id());
    return same.rules()
        .initial()
        .map(value -> field.withRules(field.rules().withInitial(value)))
        .orElse(field);
  }

  /**
   * Returns the fields that the columns ask for. Their ids have no meaning yet.
   *
   * @param isDescribed whether the field of a column is to keep what an application says of the
   *     column
   */
  private List<FieldSpec> wanted(StructType columns, Predicate<StructField> isDescribed) {
    List<FieldSpec> fields = new ArrayList<>();
    List<String> refused = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (StructField column : columns.fields()) {
      if (!names.add(folded(column.name()))) {
        refused.add(
            "column '" + column.name() + "' appears twice"
                + (isCaseSensitive
                    ? ""
                    : " (names are compared without case; set spark.sql.caseSensitive=true to tell them apart)"));
      } else if (MetadataColumns.areHiddenBy(column.name())) {
        refused.add("column '" + column.name() + "' has the name of a metadata column; rename it");
      } else {
        try {
          FieldSpec field = field(column, fields.size() + 1);
          fields.add(isDescribed.test(column) ? ColumnMetadata.replaced(field, column) : field);
        } catch (IllegalArgumentException e) {
          refused.add(String.valueOf(e.getMessage()));
        }
      }
    }
    for (String named : conf.fieldsNamed()) {
      if (java.util.Arrays.stream(columns.fieldNames()).noneMatch(named::equalsIgnoreCase)) {
        refused.add("an option is given for '" + named + "', but the columns are "
            + java.util.Arrays.stream(columns.fieldNames()).collect(Collectors.joining(", ")));
      }
    }
    if (!refused.isEmpty()) {
      throw new SchemaMismatchException(
          location, "Cannot write to " + location + ": " + String.join("; ", refused));
    }
    return fields;
  }

  private FieldSpec field(StructField column, int id) {
    Optional<Shape> asked = conf.shapeOf(column.name());
    boolean isList = conf.isList(column.name());
    if (isList && !(column.dataType() instanceof ArrayType)) {
      throw new IllegalArgumentException("column '" + column.name() + "' has the type "
          + column.dataType().catalogString() + ", and the option shape." + column.name()
          + "=list is for arrays");
    }
    ElementType type = (isList
            ? SparkTypes.nestedTypeOf(column.dataType()).map(ElementType::nested)
            : SparkTypes.elementTypeOf(column, asked))
        .orElseThrow(
            () -> new IllegalArgumentException("column '" + column.name() + "' has the type "
                + column.dataType().catalogString()
                + ", which zrecord does not store; "
                + (definesColumns ? StoredTypes.declaration(column) : StoredTypes.remedy(column))
                + ", or leave it out"));
    if (asked.isPresent() && !asked.get().isScalar() && !isTensor(column, type)) {
      throw new IllegalArgumentException("column '" + column.name() + "' has the type "
          + column.dataType().catalogString() + ", and the option shape." + column.name()
          + " asks for values of shape " + asked.get() + ", which only binary columns and arrays of"
          + " elements of a fixed width have; leave the option out");
    }
    Compression compression = conf.compressionOf(column.name()).orElse(Compression.RAW);
    Shape shape = isList ? Shape.scalar() : asked.orElseGet(() -> SparkTypes.shapeOf(column));
    FieldSpec field = new FieldSpec(id, column.name(), type, shape, compression);
    if (column.getComment().isDefined()) {
      field = field.withRules(FieldRules.NONE.withComment(column.getComment().get()));
    }
    return definesColumns ? DeclaredColumns.declared(field, column) : field;
  }

  /** Tells whether the values of a column have elements, for which a shape has a meaning. */
  private static boolean isTensor(StructField column, ElementType type) {
    return column.dataType().equals(DataTypes.BinaryType)
        || (column.dataType() instanceof ArrayType && type.kind() != Kind.NESTED);
  }

  /**
   * Adopts the shape of the table's field if no shape was asked for. A data frame does not give the
   * shape of its arrays.
   */
  private FieldSpec adopt(FieldSpec wanted, FieldSpec field) {
    boolean isOpen = conf.shapeOf(wanted.name()).isEmpty();
    if (isOpen && wanted.shape().equals(Shape.of(-1)) && field.type().kind() == Kind.NESTED) {
      ElementType list = ElementType.nested(NestedType.listOf(NestedType.of(wanted.type())));
      return new FieldSpec(wanted.id(), wanted.name(), list, Shape.scalar(), wanted.compression());
    }
    boolean sameElements = Widening.allows(wanted.type(), field.type())
        && wanted.shape().equals(Shape.of(-1))
        && !field.shape().isScalar();
    boolean bytesAsTensor = wanted.type().equals(ElementType.BYTES)
        && field.type().equals(ElementType.U8)
        && !field.shape().isScalar();
    return isOpen && (sameElements || bytesAsTensor)
        ? new FieldSpec(
            wanted.id(), wanted.name(), field.type(), field.shape(), wanted.compression())
        : wanted;
  }

  private Optional<String> describeMismatch(FieldSpec field, FieldSpec wanted) {
    return Widening.allows(wanted.type(), field.type()) && field.shape().equals(wanted.shape())
        ? Optional.empty()
        : Optional.of("column '" + wanted.name() + "' has the type " + describe(wanted)
            + " but the field of the table has " + describe(field) + " (cast it)");
  }

  private static String describe(FieldSpec field) {
    return field.type() + (field.shape().isScalar() ? "" : field.shape().toString());
  }

  private Optional<FieldSpec> find(List<FieldSpec> fields, String name) {
    Optional<FieldSpec> exact =
        fields.stream().filter(f -> f.name().equals(name)).findFirst();
    if (exact.isPresent() || isCaseSensitive) {
      return exact;
    }
    List<FieldSpec> folded =
        fields.stream().filter(f -> f.name().equalsIgnoreCase(name)).toList();
    return folded.size() == 1 ? Optional.of(folded.get(0)) : Optional.empty();
  }

  private String folded(String name) {
    return isCaseSensitive ? name : name.toLowerCase(Locale.ROOT);
  }
}
