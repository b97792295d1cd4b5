package io.zrecord.spark

/** Runs without adaptive execution and without generated code, because rows take another path then.
  */
trait Interpreted extends SparkSuite {
  override protected def isRepetition: Boolean = true

  override protected def configuration: Map[String, String] = super.configuration ++ Map(
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
  )
}

class InterpretedIndexPushdownSuite extends IndexPushdownSuite with Interpreted

class InterpretedTypesSuite extends TypesSuite with Interpreted

class InterpretedRowModelSuite extends RowModelSuite with Interpreted

class InterpretedMovedRecordsSuite extends MovedRecordsSuite with Interpreted
