package io.zrecord.spark.own

import io.zrecord.spark.ZRecordCatalog
import org.apache.spark.sql.connector.catalog.{Identifier, Table}

/** What differs by the release of Spark. */
object Own {
  val release = "3.5"
  val catalog: Class[_ <: PlainCatalog] = classOf[EmptyCatalog]

  /** The same catalog, whose tables look as those in memory do. */
  def shown(plain: PlainCatalog): PlainCatalog = new EmptyCatalog(plain.catalog) {
    override def loadTable(identifier: Identifier): Table =
      new ShownTable(super.loadTable(identifier))
  }
}

/** The catalog of the suites on Spark 3.5. */
class EmptyCatalog(override val catalog: ZRecordCatalog) extends PlainCatalog {
  def this() = this(new ZRecordCatalog)
}
