package io.zrecord.spark.own

import org.apache.spark.sql.connector.DataSourceV2SQLSuiteV1Filter
import org.apache.spark.sql.connector.catalog.CatalogPlugin
import org.scalatest.tags.Slow

/** Statements of SQL, ALTER TABLE among them. */
@Slow
class OwnSqlSuite extends DataSourceV2SQLSuiteV1Filter with OnZRecord {
  override protected def catalogs: Seq[String] =
    Seq("testcat", "testcat2", "testcat_atomic", "testv2filter", "testpart")

  override protected def catalog(name: String): CatalogPlugin = super.catalog(name) match {
    case plain: PlainCatalog => Own.shown(plain)
    case other => other
  }
}
