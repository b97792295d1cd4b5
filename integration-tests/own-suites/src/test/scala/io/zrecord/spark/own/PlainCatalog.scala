package io.zrecord.spark.own

import io.zrecord.spark.ZRecordCatalog
import java.nio.file.{Files, Paths}
import java.util
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import scala.jdk.CollectionConverters._

/** A catalog of zrecord in a directory of its own. It differs from [[ZRecordCatalog]] in what
  * Spark's suites expect of their catalogs in memory: a table makes its namespace, and the provider
  * and the switches of tables in memory are left out. A new instance is empty.
  */
trait PlainCatalog extends StagingTableCatalog with SupportsNamespaces {
  def catalog: ZRecordCatalog

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = {
    val base = Paths.get(System.getProperty("zrecord.own.directory", "target/own-suites"))
    Files.createDirectories(base)
    val warehouse = Files.createTempDirectory(base, name).toAbsolutePath.toString
    catalog.initialize(name, new CaseInsensitiveStringMap(Map("warehouse" -> warehouse).asJava))
  }

  override def name: String = catalog.name

  protected def withNamespace(identifier: Identifier): Identifier = {
    val namespace = identifier.namespace
    if (namespace.nonEmpty && !catalog.namespaceExists(namespace)) {
      catalog.createNamespace(namespace, new util.HashMap)
    }
    identifier
  }

  protected def plain(properties: util.Map[String, String]): util.Map[String, String] = {
    val kept = new util.HashMap[String, String](properties)
    PlainCatalog.switches.foreach(kept.remove)
    kept.remove(TableCatalog.PROP_PROVIDER)
    kept
  }

  override def capabilities: util.Set[TableCatalogCapability] = catalog.capabilities

  override def listTables(namespace: Array[String]): Array[Identifier] =
    catalog.listTables(namespace)

  override def loadTable(identifier: Identifier): Table = catalog.loadTable(identifier)

  override def loadTable(identifier: Identifier, privileges: util.Set[TableWritePrivilege]): Table =
    catalog.loadTable(identifier, privileges)

  override def loadTable(identifier: Identifier, version: String): Table =
    catalog.loadTable(identifier, version)

  override def loadTable(identifier: Identifier, micros: Long): Table =
    catalog.loadTable(identifier, micros)

  override def tableExists(identifier: Identifier): Boolean = catalog.tableExists(identifier)

  override def invalidateTable(identifier: Identifier): Unit = catalog.invalidateTable(identifier)

  override def createTable(
      identifier: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): Table =
    catalog.createTable(withNamespace(identifier), schema, partitions, plain(properties))

  override def createTable(
      identifier: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): Table =
    catalog.createTable(withNamespace(identifier), columns, partitions, plain(properties))

  override def stageCreate(
      identifier: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable =
    catalog.stageCreate(withNamespace(identifier), schema, partitions, plain(properties))

  override def stageCreate(
      identifier: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable =
    catalog.stageCreate(withNamespace(identifier), columns, partitions, plain(properties))

  override def stageReplace(
      identifier: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable =
    catalog.stageReplace(identifier, schema, partitions, plain(properties))

  override def stageReplace(
      identifier: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable =
    catalog.stageReplace(identifier, columns, partitions, plain(properties))

  override def stageCreateOrReplace(
      identifier: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable =
    catalog.stageCreateOrReplace(withNamespace(identifier), schema, partitions, plain(properties))

  override def stageCreateOrReplace(
      identifier: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable =
    catalog.stageCreateOrReplace(withNamespace(identifier), columns, partitions, plain(properties))

  override def alterTable(identifier: Identifier, changes: TableChange*): Table =
    catalog.alterTable(identifier, changes: _*)

  override def dropTable(identifier: Identifier): Boolean = catalog.dropTable(identifier)

  override def purgeTable(identifier: Identifier): Boolean = catalog.purgeTable(identifier)

  override def renameTable(from: Identifier, to: Identifier): Unit = catalog.renameTable(from, to)

  override def namespaceExists(namespace: Array[String]): Boolean =
    catalog.namespaceExists(namespace)

  override def listNamespaces(): Array[Array[String]] = catalog.listNamespaces()

  override def listNamespaces(namespace: Array[String]): Array[Array[String]] =
    catalog.listNamespaces(namespace)

  override def loadNamespaceMetadata(namespace: Array[String]): util.Map[String, String] =
    catalog.loadNamespaceMetadata(namespace)

  override def createNamespace(namespace: Array[String], metadata: util.Map[String, String]): Unit =
    catalog.createNamespace(namespace, metadata)

  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit =
    catalog.alterNamespace(namespace, changes: _*)

  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean =
    catalog.dropNamespace(namespace, cascade)
}

private object PlainCatalog {
  val switches = Seq(
    "supports-deltas",
    "split-updates",
    "auto-schema-evolution",
    "no-metadata",
    "accept-any-schema"
  )
}
