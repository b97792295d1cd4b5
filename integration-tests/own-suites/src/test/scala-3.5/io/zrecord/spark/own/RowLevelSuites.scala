package io.zrecord.spark.own

import org.apache.spark.sql.connector._

class OwnDeleteSuite extends DeltaBasedDeleteFromTableSuite with RowLevel

class OwnUpdateSuite extends DeltaBasedUpdateTableSuite with RowLevel
