package io.zrecord.spark

import java.util

import org.apache.spark.sql.connector.catalog.{Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A data source other than zrecord, whose tables Spark keeps but can neither read nor write. */
class OtherSource extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    new StructType().add("id", LongType)

  override def supportsExternalMetadata(): Boolean = true

  override def getTable(
      declared: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): Table = new Table {
    override def name(): String = "other"

    @deprecated("Spark prefers columns, which the oldest release lacks", "")
    override def schema(): StructType = declared

    override def capabilities(): util.Set[TableCapability] =
      util.Collections.emptySet[TableCapability]()
  }
}
