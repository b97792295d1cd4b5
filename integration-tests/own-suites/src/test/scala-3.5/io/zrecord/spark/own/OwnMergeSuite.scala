package io.zrecord.spark.own

import org.apache.spark.sql.connector.DeltaBasedMergeIntoTableSuite
import org.scalatest.tags.Slow

@Slow
class OwnMergeSuite extends DeltaBasedMergeIntoTableSuite with RowLevel
