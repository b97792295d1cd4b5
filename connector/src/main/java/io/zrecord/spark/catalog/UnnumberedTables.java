package io.zrecord.spark.catalog;

import io.zrecord.spark.ddl.NumberedColumn;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.expressions.Transform;

/**
 * A catalog that keeps a type and metadata of each column. It refuses columns that a table should
 * number or compute, of any data source, where Spark's own forms would forget this.
 */
@SuppressWarnings("deprecation") // Each release prefers other forms.
interface UnnumberedTables extends StagingTableCatalog {
  @Override
  default StagedTable stageCreate(
      Identifier identifier,
      Column[] columns,
      Transform[] partitions,
      Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    NumberedColumn.requireNone(identifier.toString(), columns);
    return stageCreate(
        identifier, CatalogV2Util.v2ColumnsToStructType(columns), partitions, properties);
  }

  @Override
  default StagedTable stageReplace(
      Identifier identifier,
      Column[] columns,
      Transform[] partitions,
      Map<String, String> properties)
      throws NoSuchTableException, NoSuchNamespaceException {
    NumberedColumn.requireNone(identifier.toString(), columns);
    return stageReplace(
        identifier, CatalogV2Util.v2ColumnsToStructType(columns), partitions, properties);
  }

  @Override
  default StagedTable stageCreateOrReplace(
      Identifier identifier,
      Column[] columns,
      Transform[] partitions,
      Map<String, String> properties)
      throws NoSuchNamespaceException {
    NumberedColumn.requireNone(identifier.toString(), columns);
    return stageCreateOrReplace(
        identifier, CatalogV2Util.v2ColumnsToStructType(columns), partitions, properties);
  }
}
