package io.zrecord.spark.own

import org.apache.spark.sql.DSV2CharVarcharTestSuite

/** Texts with a length: CHAR is padded, and longer texts are refused. */
class OwnCharSuite extends DSV2CharVarcharTestSuite with OnZRecord {
  override protected def catalogs: Seq[String] = Seq("testcat")
}
