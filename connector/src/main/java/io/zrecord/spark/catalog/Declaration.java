package io.zrecord.spark.catalog;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.column.SparkTypes;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Joins the columns that a {@code CREATE TABLE} declared with the columns of the dataset. The
 * dataset decides which columns exist, and their types. The declaration adds comments, defaults,
 * the lengths of CHAR and VARCHAR, and NOT NULL.
 *
 * @param columns the declared columns, as the session catalog keeps them
 */
record Declaration(StructType columns) {
  private static final String COMMENT = "comment";

  /** Keys of the metadata in which Spark keeps a default. */
  private static final Set<String> DEFAULTS = Set.of("CURRENT_DEFAULT", "EXISTS_DEFAULT");

  /** Returns the declared column of a name. Names are compared without case. */
  static Optional<StructField> find(StructType columns, String name) {
    return Arrays.stream(columns.fields())
        .filter(field -> field.name().equalsIgnoreCase(name))
        .findFirst();
  }

  /** Tells whether values of the declared type are stored as the type that was found. */
  static boolean isStoredAs(DataType declared, DataType found) {
    DataType stored = SparkTypes.isLimitedString(declared) ? DataTypes.StringType : declared;
    return SparkTypes.plainName(stored).equals(SparkTypes.plainName(found));
  }

  /** Describes a declared column that the dataset does not have, if there is one. */
  Optional<String> mismatch(StructType found) {
    for (StructField column : columns.fields()) {
      Optional<StructField> match = find(found, column.name());
      if (match.isEmpty() || !isStoredAs(column.dataType(), match.get().dataType())) {
        return Optional.of("the column '" + column.name() + "' of type "
            + column.dataType().catalogString() + " is declared, but the dataset has "
            + found.catalogString());
      }
    }
    return Optional.empty();
  }

  /**
   * Returns the columns of a dataset together with their declarations. A column of another type
   * than declared, as an older version may have it, stays as it is.
   *
   * <p>A column that only the declaration has as NOT NULL stays nullable: a write by path does not
   * know the declaration, and Spark would drop the nulls of such a write from counts and
   * conditions. A default that is declared goes before the dataset's, but not before a number. What
   * applications say of the columns is what the dataset keeps, because a write by path replaces
   * that.
   *
   * @param numbered names of the columns of the dataset that the table numbers
   */
  StructType over(StructType found, Set<String> numbered) {
    return new StructType(Arrays.stream(found.fields())
        .map(field -> find(columns, field.name())
            .filter(declared -> isStoredAs(declared.dataType(), field.dataType()))
            .map(declared -> joined(
                numbered.contains(field.name()) ? withoutDefault(declared) : declared, field))
            .orElse(field))
        .toArray(StructField[]::new));
  }

  /** Returns the declared columns alone, nullable, for a dataset that does not exist yet. */
  StructType alone() {
    return new StructType(Arrays.stream(columns.fields())
        .map(field -> new StructField(field.name(), field.dataType(), true, field.metadata()))
        .toArray(StructField[]::new));
  }

  /**
   * Returns the columns of a dataset without what the dataset keeps itself, for an entry that
   * declares nothing.
   */
  static StructType plain(StructType found) {
    return new StructType(
        Arrays.stream(ColumnMetadata.withoutApplications(found).fields())
            .map(field -> new StructField(
                field.name(), field.dataType(), true, withoutDefault(field).metadata()))
            .toArray(StructField[]::new));
  }

  private static StructField withoutDefault(StructField field) {
    MetadataBuilder metadata = new MetadataBuilder().withMetadata(field.metadata());
    DEFAULTS.forEach(metadata::remove);
    return new StructField(field.name(), field.dataType(), field.nullable(), metadata.build());
  }

  private static StructField joined(StructField declared, StructField found) {
    MetadataBuilder metadata = new MetadataBuilder()
        .withMetadata(ColumnMetadata.ofSpark(declared))
        .withMetadata(found.metadata());
    if (declared.getComment().isDefined()) {
      metadata.putString(COMMENT, declared.getComment().get());
    }
    for (String own : DEFAULTS) {
      if (declared.metadata().contains(own)) {
        metadata.putString(own, declared.metadata().getString(own));
      }
    }
    DataType type =
        SparkTypes.isLimitedString(declared.dataType()) ? declared.dataType() : found.dataType();
    return new StructField(found.name(), type, found.nullable(), metadata.build());
  }

  /**
   * Returns the columns of the first write, which creates the dataset. Columns of which the write
   * says nothing have what applications said in the declaration.
   */
  StructType described(StructType written) {
    return new StructType(Arrays.stream(written.fields())
        .map(field -> find(columns, field.name())
            .filter(declared ->
                ColumnMetadata.ofApplications(field.metadata()).equals(Metadata.empty()))
            .map(declared -> ColumnMetadata.ofApplications(declared.metadata()))
            .map(said -> new StructField(
                field.name(),
                field.dataType(),
                field.nullable(),
                new MetadataBuilder()
                    .withMetadata(field.metadata())
                    .withMetadata(said)
                    .build()))
            .orElse(field))
        .toArray(StructField[]::new));
  }

  /**
   * Returns the columns of a write with those marked that must not be null.
   *
   * @param numbered names of columns that get a number where they are null
   */
  StructType required(StructType written, Set<String> numbered) {
    Set<String> required = Arrays.stream(columns.fields())
        .filter(field -> !field.nullable())
        .filter(field -> numbered.stream().noneMatch(field.name()::equalsIgnoreCase))
        .map(field -> field.name().toLowerCase(java.util.Locale.ROOT))
        .collect(Collectors.toSet());
    return new StructType(Arrays.stream(written.fields())
        .map(field -> new StructField(
            field.name(),
            field.dataType(),
            field.nullable() && !required.contains(field.name().toLowerCase(java.util.Locale.ROOT)),
            field.metadata()))
        .toArray(StructField[]::new));
  }

  /**
   * Refuses columns that zrecord does not store.
   *
   * @throws SchemaMismatchException if zrecord does not store the type of a column, or a column has
   *     the name of a metadata column
   */
  void requireStorable(String table) {
    for (StructField column : columns.fields()) {
      if (MetadataColumns.areHiddenBy(column.name())) {
        throw new SchemaMismatchException(
            table,
            "Cannot create " + table + ": column '" + column.name()
                + "' has the name of a metadata column; rename it");
      }
      if (SparkTypes.elementTypeOf(column, Optional.empty()).isEmpty()) {
        throw new SchemaMismatchException(
            table,
            "Cannot create " + table + ": column '" + column.name() + "' has the type "
                + column.dataType().catalogString()
                + ", which zrecord does not store; declare another type, such as string without a"
                + " collation, or leave the column out");
      }
    }
  }
}
