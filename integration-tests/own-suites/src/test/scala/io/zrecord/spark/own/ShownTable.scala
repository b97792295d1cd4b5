package io.zrecord.spark.own

import java.util
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.{MetadataBuilder, StructField, StructType}

/** What a table says of itself, as Spark's suites compare it with a table in memory: without what
  * only zrecord says, and with the provider and the owner that they look for.
  */
final class ShownTable(table: Table) extends Table {
  override def name: String = table.name

  override def schema: StructType = StructType(table.schema.map(shown))

  private def shown(field: StructField): StructField = {
    val own = field.metadata.json.split('"').filter(_.startsWith("zrecord."))
    val metadata = own.foldLeft(new MetadataBuilder().withMetadata(field.metadata))(_.remove(_))
    field.copy(metadata = metadata.build())
  }

  override def partitioning: Array[Transform] = table.partitioning

  override def properties: util.Map[String, String] = {
    val shown = new util.HashMap[String, String](table.properties)
    shown.remove(TableCatalog.PROP_LOCATION)
    shown.remove(TableCatalog.PROP_IS_MANAGED_LOCATION)
    shown.put(TableCatalog.PROP_OWNER, System.getProperty("user.name"))
    shown.put(TableCatalog.PROP_PROVIDER, "foo")
    shown
  }

  override def capabilities: util.Set[TableCapability] = table.capabilities
}
