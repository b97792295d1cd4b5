package io.zrecord.spark

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._
import scala.util.{Failure, Success, Try}
import scala.util.hashing.MurmurHash3
import scala.util.matching.Regex

import io.zrecord.testing.Budget
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{Row, SparkSession}

/** The statements of `integration-tests/sql`, each file with tables that are named in each way. A
  * way that the seed chooses is the test of a file, and the others are repetitions.
  */
class SqlFilesSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "other suites have statements on other storages"

  private lazy val warehouse = freshPath()

  private val root = Paths.get(System.getProperty("zrecord.test.sql"))

  private val repetitions = scala.collection.mutable.Set.empty[String]

  for (path <- Seq(root, root.resolve("complaints")).flatMap(sqlFiles)) {
    val file = SqlFile.read(path)
    val places = Seq("named", "session", "path")
      .map(placeOf)
      .filter(place => file.conditions.forall(place.meets))
    val first = MurmurHash3.stringHash(s"${Budget.seed} ${file.name}") & 0xffff
    for ((place, number) <- places.zipWithIndex) {
      val name = s"${root.relativize(path)}, tables by ${SqlFilesSuite.HowNamed(place.tables)}"
      if (number != first % places.size) repetitions += name
      test(name)(new Run(file, place).run())
    }
  }

  override def tags: Map[String, Set[String]] = {
    val own = super.tags
    val share = TestShare.of(suiteName, isRepetition = true)
    val leftOut = repetitions.filterNot(TestShare.isChosen(suiteName, _, share))
    own ++ leftOut.map(name => name -> (own.getOrElse(name, Set.empty) + TestShare.LeftOut))
  }

  private def sqlFiles(directory: Path): Seq[Path] = {
    val listed = Files.list(directory)
    try listed.iterator.asScala.filter(_.toString.endsWith(".sql")).toList.sortBy(_.toString)
    finally listed.close()
  }

  private def placeOf(tables: String): SqlPlace = {
    val Array(major, minor) = org.apache.spark.SPARK_VERSION.split('.').take(2).map(_.toInt)
    SqlPlace(major, minor, tables)
  }

  /** Runs a file in a session of its own. */
  private class Run(file: SqlFile, place: SqlPlace) {
    private val session = spark.newSession()
    private val space = "s" + freshTable()
    private val directory = freshPath()

    private val (catalog, namespace) = place.tables match {
      case "named" => ("lake", s"lake.$space")
      case "session" => ("spark_catalog", s"spark_catalog.$space")
      case "path" => ("zrecord", "zrecord")
    }

    def run(): Unit = {
      SqlFilesSuite.settings(warehouse).foreach { case (key, value) =>
        session.conf.set(key, value)
      }
      SparkSession.setActiveSession(session)
      try {
        place.tables match {
          case "named" => session.sql(s"create namespace $namespace")
          case "session" => session.sql(s"create database $space location '$directory'")
          case "path" =>
        }
        val problems = file.statements
          .filter(_.conditions.forall(place.meets))
          .flatMap(problemOf)
        if (problems.nonEmpty) fail(problems.mkString("\n\n"))
      } finally {
        session.catalog.clearCache()
        if (place.tables != "path") session.sql(s"drop namespace if exists $namespace cascade")
        SparkSession.setActiveSession(spark)
      }
    }

    /** Puts in what names stand for. */
    private def substituted(text: String): String =
      SqlFilesSuite.Name.replaceAllIn(
        text,
        found =>
          Regex.quoteReplacement(found.group(1) match {
            case "catalog" => catalog
            case "namespace" => namespace
            case "space" => space
            case table if found.group(2) == null => tableNamed(table)
            case table => argumentOf(table)
          })
      )

    private def tableNamed(table: String): String =
      if (place.tables == "path") s"zrecord.`$directory/$table`" else s"$namespace.$table"

    /** Names a table in a text that is an argument of a procedure. */
    private def argumentOf(table: String): String =
      if (place.tables == "path") s"$directory/$table" else s"$space.$table"

    /** Runs a statement, and says what is wrong with its answer. */
    private def problemOf(statement: SqlStatement): Option[String] = {
      val text = substituted(statement.text)
      val expected = statement.outcomes.find(_.condition.forall(place.meets))
      val problem =
        if (expected.isEmpty && statement.outcomes.nonEmpty) Some(s"no answer is for $place")
        else
          (Try(session.sql(text).collect().toSeq), expected) match {
            case (Failure(e), Some(SqlError(name, _, words))) =>
              problemOfError(e, name, words.map(substituted))
            case (Failure(e), _) => Some(s"failed, ${messages(e)}")
            case (Success(rows), Some(SqlError(name, _, _))) =>
              Some(s"$name was expected, but there are rows: $rows")
            case (Success(rows), Some(SqlRows(mode, _, lines))) =>
              SqlRowsCheck.problem(text, rows, mode, lines.map(substituted))
            case (Success(_), None) => None
          }
      problem.map(what => s"${file.name}, line ${statement.line}: $what\n$text")
    }

    private def problemOfError(e: Throwable, name: String, words: Seq[String]): Option[String] = {
      val chain = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(10).toSeq
      val names = chain.flatMap(SqlFilesSuite.namesOf)
      val all = messages(e)
      if (!names.exists(found => found == name || found.startsWith(name + ".")))
        Some(s"$name was expected, but there is ${names.mkString(", ")}: $all")
      else
        words.find(!all.contains(_)).map(word => s"'$word' is not in the message: $all")
    }
  }
}

object SqlFilesSuite {
  private val HowNamed = Map(
    "named" -> "names in a warehouse",
    "session" -> "names in the session's catalog",
    "path" -> "paths"
  )

  private val Name = """\$\{([a-z_0-9]+)(:argument)?\}""".r

  /** Returns the settings of a session in which each way of naming a table works. */
  private def settings(warehouse: String): Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  /** Returns the condition of an exception, if there is one, its class, and classes above. */
  private def namesOf(e: Throwable): Seq[String] = {
    val condition = e match {
      case known: SparkThrowable => Option(known.getErrorClass)
      case _ => None
    }
    condition.toSeq ++ Iterator
      .iterate[Class[_]](e.getClass)(_.getSuperclass)
      .takeWhile(_ != classOf[Throwable])
      .map(_.getSimpleName)
  }
}

/** Compares rows with the lines of a file. */
object SqlRowsCheck {

  /** Returns what is wrong with rows; empty if nothing is. */
  def problem(text: String, rows: Seq[Row], mode: String, lines: Seq[String]): Option[String] = {
    val found = rows.map(_.toSeq.map(cell(text, _)))
    val expected = lines.map(_.split("""\|""", -1).map(cell => shown(text, cell.trim)).toSeq)
    val isRight = mode match {
      case "no rows" => found.isEmpty
      case "words" =>
        val all = found.flatten.mkString("\n")
        lines.forall(all.contains)
      case "among others" => expected.forall(row => found.exists(matches(row, _)))
      case "in any order" =>
        found.map(_.mkString(" | ")).sorted == expected.map(_.mkString(" | ")).sorted
      case _ =>
        found.size == expected.size && expected.zip(found).forall { case (a, b) => matches(a, b) }
    }
    if (isRight) None
    else
      Some(
        s"expected $mode:\n${lines.mkString("\n")}\nfound:\n" +
          found.map(_.mkString(" | ")).mkString("\n")
      )
  }

  private def matches(expected: Seq[String], found: Seq[String]): Boolean =
    expected.size == found.size && expected.zip(found).forall { case (a, b) => a == "*" || a == b }

  /** DESCRIBE shows a comment that is not there as NULL or as nothing, as the release likes. */
  private def shown(text: String, cell: String): String =
    if (cell == "NULL" && text.startsWith("describe")) "" else cell

  private def cell(text: String, value: Any): String = shown(text, cell(value))

  /** Returns a value as every client of Spark shows it. */
  private def cell(value: Any): String = value match {
    case null => "NULL"
    case time: java.sql.Timestamp => time.toString.stripSuffix(".0")
    case time: java.time.LocalDateTime =>
      java.sql.Timestamp.valueOf(time).toString.stripSuffix(".0")
    case number: java.math.BigDecimal => number.toPlainString
    // Clients show these differently: a query casts them.
    case _: Array[Byte] | _: scala.collection.Iterable[_] | _: Row => "nested or binary"
    case other => other.toString.trim
  }
}
