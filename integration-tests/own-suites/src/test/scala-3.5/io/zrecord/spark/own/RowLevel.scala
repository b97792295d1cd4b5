package io.zrecord.spark.own

import java.util
import org.apache.spark.sql.connector.RowLevelOperationSuiteBase
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform

/** The suites of DELETE, UPDATE and MERGE. What they ask of a table in memory is not asked. */
trait RowLevel extends RowLevelOperationSuiteBase with OnZRecord {
  override protected def catalogs: Seq[String] = Seq("cat")

  private def real: TableCatalog =
    spark.sessionState.catalogManager.catalog("cat").asInstanceOf[TableCatalog]

  /** The catalog of the suite, by the type of Spark's. */
  override protected def catalog: InMemoryRowLevelOperationTableCatalog =
    new InMemoryRowLevelOperationTableCatalog {
      override def createTable(
          identifier: Identifier,
          columns: Array[Column],
          partitions: Array[Transform],
          properties: util.Map[String, String]
      ): Table =
        real.createTable(identifier, columns, partitions, properties)

      override def loadTable(identifier: Identifier): Table = real.loadTable(identifier)

      override def alterTable(identifier: Identifier, changes: TableChange*): Table =
        real.alterTable(identifier, changes: _*)
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

  override protected def executeAndCheckScan(query: String, expectedScanSchema: String): Unit =
    sql(query)

  override protected def executeAndCheckScans(
      query: String,
      primaryScanSchema: String,
      groupFilterScanSchema: Option[String]
  ): Unit = sql(query)
}
