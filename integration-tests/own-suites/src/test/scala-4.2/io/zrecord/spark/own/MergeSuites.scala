package io.zrecord.spark.own

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.connector._
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.Metadata
import org.scalatest.tags.Slow

/** MERGE of data frames, without SQL. */
class OwnMergeFrameSuite extends MergeIntoDataFrameSuite with RowLevel

/** The suites compare the columns of a table with columns of which nobody says anything. */
trait PlainColumns extends RowLevel {
  override protected lazy val sql: String => DataFrame = text => {
    val answer = spark.sql(text)
    if (!text.trim.toLowerCase.startsWith("select")) answer
    else
      answer.select(
        answer.columns.toSeq
          .map(name => col(s"`${name.replace("`", "``")}`").as(name, Metadata.empty)): _*
      )
  }
}

/** MERGE from sources with other columns and types, in SQL. */
@Slow
class OwnMergeEvolutionSuite extends DeltaBasedMergeIntoSchemaEvolutionSQLSuite with PlainColumns

/** MERGE of data frames from sources with other columns and types. */
@Slow
class OwnMergeFrameEvolutionSuite
    extends DeltaBasedMergeIntoSchemaEvolutionScalaSuite
    with PlainColumns
