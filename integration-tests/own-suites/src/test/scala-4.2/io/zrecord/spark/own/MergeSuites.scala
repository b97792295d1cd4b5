package io.zrecord.spark.own

import org.apache.spark.sql.connector._
import org.scalatest.tags.Slow

/** MERGE of data frames, without SQL. */
class OwnMergeFrameSuite extends MergeIntoDataFrameSuite with RowLevel

/** MERGE from sources with other columns and types, in SQL. */
@Slow
class OwnMergeEvolutionSuite extends DeltaBasedMergeIntoSchemaEvolutionSQLSuite with RowLevel

/** MERGE of data frames from sources with other columns and types. */
@Slow
class OwnMergeFrameEvolutionSuite
    extends DeltaBasedMergeIntoSchemaEvolutionScalaSuite
    with RowLevel
