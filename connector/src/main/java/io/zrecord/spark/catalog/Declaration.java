package io.zrecord.spark.catalog;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.column.SparkTypes;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The columns that a {@code CREATE TABLE} declares, or an entry of a session catalog.
 *
 * @param columns the declared columns
 */
record Declaration(StructType columns) {
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
    return SparkTypes.plainName(stored(declared)).equals(SparkTypes.plainName(stored(found)));
  }

  private static DataType stored(DataType declared) {
    return SparkTypes.isLimitedString(declared) ? DataTypes.StringType : declared;
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

  /**
   * Returns the columns of the first write, which makes the dataset, with all that is declared.
   * Columns of which the write says nothing have what applications said in the declaration.
   */
  StructType described(StructType written) {
    return new StructType(Arrays.stream(written.fields())
        .map(field -> find(columns, field.name())
            .map(declared -> described(declared, field))
            .orElse(field))
        .toArray(StructField[]::new));
  }

  private static StructField described(StructField declared, StructField written) {
    Metadata said = ColumnMetadata.ofApplications(written.metadata());
    return new StructField(
        declared.name(),
        SparkTypes.isLimitedString(declared.dataType()) ? declared.dataType() : written.dataType(),
        declared.nullable(),
        new MetadataBuilder()
            .withMetadata(ColumnMetadata.withoutApplications(declared.metadata()))
            .withMetadata(
                said.equals(Metadata.empty())
                    ? ColumnMetadata.ofApplications(declared.metadata())
                    : said)
            .build());
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
