package io.zrecord.spark.own

import org.apache.spark.sql._
import org.apache.spark.sql.connector._
import org.apache.spark.sql.streaming.test.DataStreamTableAPISuite

class OwnDataFrameSuite extends DataSourceV2DataFrameSuite with OnZRecord {
  override protected def catalogs: Seq[String] = Seq("testcat", "testcat2")
}

class OwnDataFrameWriterSuite extends DataFrameWriterV2Suite with OnZRecord {
  override protected def catalogs: Seq[String] = Seq("testcat")
}

class OwnInsertSuite extends DSV2SQLInsertTestSuite with OnZRecord {
  override protected def catalogs: Seq[String] = Seq("testcat")
}

class OwnNullChecksSuite extends RuntimeNullChecksV2Writes with OnZRecord {
  override protected def catalogs: Seq[String] = Seq("test_catalog")
}

class OwnStreamSuite extends DataStreamTableAPISuite with OnZRecord {
  override protected def catalogs: Seq[String] = Seq("testcat")
}
