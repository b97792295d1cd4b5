package io.zrecord.spark.catalog;

import io.zrecord.spark.ddl.NewTable;
import io.zrecord.spark.path.SparkErrors;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;

/**
 * A catalog that takes what a statement says of a new table in one form, whatever the release of
 * Spark. Spark 3.5 and programs call the forms with a {@link StructType}. Spark 4.0 calls those
 * with {@link Column}s, and later ones those with a {@link TableInfo}, which older Sparks lack.
 */
@SuppressWarnings("deprecation") // Each release prefers other forms.
public interface NewTables extends StagingTableCatalog {
  /** Creates a table without records. */
  Table create(Identifier identifier, NewTable table)
      throws TableAlreadyExistsException, NoSuchNamespaceException;

  /** Stages the creation of a table. */
  StagedTable stageCreate(Identifier identifier, NewTable table)
      throws TableAlreadyExistsException, NoSuchNamespaceException;

  /** Stages the replacement of a table that must be there. */
  StagedTable stageReplace(Identifier identifier, NewTable table)
      throws NoSuchTableException, NoSuchNamespaceException;

  /** Stages a table in the place of one that may be there. */
  StagedTable stageCreateOrReplace(Identifier identifier, NewTable table)
      throws NoSuchNamespaceException;

  @Override
  default Table createTable(
      Identifier identifier,
      StructType schema,
      Transform[] partitions,
      Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    return create(identifier, NewTable.of(schema, partitions, properties));
  }

  @Override
  default Table createTable(
      Identifier identifier,
      Column[] columns,
      Transform[] partitions,
      Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    return create(identifier, NewTable.of(columns, partitions, properties));
  }

  /** The form of Spark 4.1 and later. */
  default Table createTable(Identifier identifier, TableInfo table)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    return create(identifier, NewTable.of(table));
  }

  /** Creates a table like another one, as Spark 4.2 and later ask for. */
  default Table createTableLike(Identifier identifier, TableInfo table, Table source)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    return create(identifier, like(table, source));
  }

  /** Returns what {@code CREATE TABLE LIKE} says, with what only zrecord knows of the source. */
  static NewTable like(TableInfo table, Table source) {
    NewTable said = NewTable.of(table);
    return source instanceof ZRecordTable known
        ? known
            .onlyVersion()
            .map(version ->
                SparkErrors.planned(() -> said.like(version.schema(), version.declarations())))
            .orElse(said)
        : said;
  }

  @Override
  default StagedTable stageCreate(
      Identifier identifier,
      StructType schema,
      Transform[] partitions,
      Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    return stageCreate(identifier, NewTable.of(schema, partitions, properties));
  }

  @Override
  default StagedTable stageCreate(
      Identifier identifier,
      Column[] columns,
      Transform[] partitions,
      Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    return stageCreate(identifier, NewTable.of(columns, partitions, properties));
  }

  /** The form of Spark 4.1 and later. */
  default StagedTable stageCreate(Identifier identifier, TableInfo table)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    return stageCreate(identifier, NewTable.of(table));
  }

  @Override
  default StagedTable stageReplace(
      Identifier identifier,
      StructType schema,
      Transform[] partitions,
      Map<String, String> properties)
      throws NoSuchTableException, NoSuchNamespaceException {
    return stageReplace(identifier, NewTable.of(schema, partitions, properties));
  }

  @Override
  default StagedTable stageReplace(
      Identifier identifier,
      Column[] columns,
      Transform[] partitions,
      Map<String, String> properties)
      throws NoSuchTableException, NoSuchNamespaceException {
    return stageReplace(identifier, NewTable.of(columns, partitions, properties));
  }

  /** The form of Spark 4.1 and later. */
  default StagedTable stageReplace(Identifier identifier, TableInfo table)
      throws NoSuchTableException, NoSuchNamespaceException {
    return stageReplace(identifier, NewTable.of(table));
  }

  @Override
  default StagedTable stageCreateOrReplace(
      Identifier identifier,
      StructType schema,
      Transform[] partitions,
      Map<String, String> properties)
      throws NoSuchNamespaceException {
    return stageCreateOrReplace(identifier, NewTable.of(schema, partitions, properties));
  }

  @Override
  default StagedTable stageCreateOrReplace(
      Identifier identifier,
      Column[] columns,
      Transform[] partitions,
      Map<String, String> properties)
      throws NoSuchNamespaceException {
    return stageCreateOrReplace(identifier, NewTable.of(columns, partitions, properties));
  }

  /** The form of Spark 4.1 and later. */
  default StagedTable stageCreateOrReplace(Identifier identifier, TableInfo table)
      throws NoSuchNamespaceException {
    return stageCreateOrReplace(identifier, NewTable.of(table));
  }
}
