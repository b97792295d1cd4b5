package io.zrecord.spark.own

import io.zrecord.spark.ZRecordCatalog
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** What differs by the release of Spark. */
object Own {
  val release = "4.2"
  val catalog: Class[_ <: PlainCatalog] = classOf[EmptyCatalog]

  /** The same catalog, whose tables look as those in memory do. */
  def shown(plain: PlainCatalog): PlainCatalog = new EmptyCatalog(plain.catalog) {
    override def loadTable(identifier: Identifier): Table =
      new ShownTable(super.loadTable(identifier))
  }
}

/** The catalog of the suites on Spark 4.2, where statements come as a TableInfo. */
class EmptyCatalog(override val catalog: ZRecordCatalog) extends PlainCatalog {
  def this() = this(new ZRecordCatalog)

  private def plain(table: TableInfo): TableInfo =
    new TableInfo.Builder()
      .withColumns(table.columns)
      .withPartitions(table.partitions)
      .withConstraints(table.constraints)
      .withProperties(plain(table.properties))
      .build()

  override def createTable(identifier: Identifier, table: TableInfo): Table =
    catalog.createTable(withNamespace(identifier), plain(table))

  override def createTableLike(identifier: Identifier, table: TableInfo, source: Table): Table =
    catalog.createTableLike(withNamespace(identifier), plain(table), source)

  override def stageCreate(identifier: Identifier, table: TableInfo): StagedTable =
    catalog.stageCreate(withNamespace(identifier), plain(table))

  override def stageReplace(identifier: Identifier, table: TableInfo): StagedTable =
    catalog.stageReplace(identifier, plain(table))

  override def stageCreateOrReplace(identifier: Identifier, table: TableInfo): StagedTable =
    catalog.stageCreateOrReplace(withNamespace(identifier), plain(table))

  override def loadChangelog(
      identifier: Identifier,
      context: ChangelogContext,
      options: CaseInsensitiveStringMap
  ): Changelog =
    catalog.loadChangelog(identifier, context, options)
}
