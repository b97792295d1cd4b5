package io.zrecord.spark.own

import org.apache.spark.sql.connector._

class OwnDeleteSuite extends DeltaBasedDeleteFromTableSuite with RowLevel {
  override protected def checkDeleteMetrics(numDeletedRows: Long, numCopiedRows: Long): Unit = ()
}

class OwnUpdateSuite extends DeltaBasedUpdateTableSuite with RowLevel {
  override protected def checkUpdateMetrics(numUpdatedRows: Long, numCopiedRows: Long): Unit = ()
}
