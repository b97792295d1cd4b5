package io.zrecord.spark

import java.nio.charset.StandardCharsets
import java.nio.file.{Files, Path}

/** Where a statement runs: a release of Spark, and how tables are named. */
case class SqlPlace(major: Int, minor: Int, tables: String) {

  /** Tells whether a condition such as `spark >= 4.1 and not in path` holds. A condition that names
    * clients holds if `suite` is one of them.
    */
  def meets(condition: String): Boolean = condition.split(" and ").map(_.trim).forall {
    case SqlPlace.Not(other) => !meets(other)
    case SqlPlace.Release(comparison, otherMajor, otherMinor) =>
      val order = (major * 100 + minor).compare(otherMajor.toInt * 100 + otherMinor.toInt)
      comparison match {
        case "<" => order < 0
        case "<=" => order <= 0
        case "=" => order == 0
        case ">=" => order >= 0
        case ">" => order > 0
      }
    case SqlPlace.Tables(names) => names.split(' ').contains(tables)
    case SqlPlace.Clients(names) => names.split(' ').contains("suite")
    case other => throw new IllegalArgumentException(s"'$other' is no condition")
  }
}

object SqlPlace {
  private val Not = "not (.*)".r
  private val Release = """spark (<=|<|=|>=|>) (\d+)\.(\d+)""".r
  private val Tables = """in ((?:named|session|path)(?: (?:named|session|path))*)""".r
  private val Clients = """by ([a-z-]+(?: [a-z-]+)*)""".r
}

/** What a statement answers. Lines follow the first one in the file. */
sealed trait SqlOutcome {
  def condition: Option[String]
  def lines: Seq[String]
}

/** Rows: in this order, in any order, some of the rows, or words of them. */
case class SqlRows(mode: String, condition: Option[String], lines: Seq[String]) extends SqlOutcome

/** An error with a condition of Spark or a class of Java, and words of its message. */
case class SqlError(name: String, condition: Option[String], lines: Seq[String]) extends SqlOutcome

/** A statement of a file. */
case class SqlStatement(line: Int, text: String, conditions: Seq[String], outcomes: Seq[SqlOutcome])

/** Statements with what they answer, as `integration-tests/sql/README.md` describes them. */
case class SqlFile(name: String, conditions: Seq[String], statements: Seq[SqlStatement])

object SqlFile {
  private val OfFile = "-- file (.*)".r
  private val If = "-- if (.*)".r
  private val Expect = "-- expect(?: (no rows|in any order|among others|words))?(?: if (.*))?".r
  private val Error = "-- error ([A-Za-z0-9_.]+)(?: if (.*))?".r

  /** Reads a file.
    *
    * @throws java.lang.IllegalArgumentException
    *   if a line has no meaning
    */
  def read(path: Path): SqlFile = {
    val text = new String(Files.readAllBytes(path), StandardCharsets.UTF_8)
    new SqlFileParser(path.getFileName.toString, text.linesIterator.toIndexedSeq).parse()
  }

  private class SqlFileParser(name: String, lines: IndexedSeq[String]) {
    private var at = 0

    def parse(): SqlFile = {
      val ofFile = Seq.newBuilder[String]
      val statements = Seq.newBuilder[SqlStatement]
      var conditions = Seq.empty[String]
      while (at < lines.size)
        lines(at).trim match {
          case OfFile(condition) =>
            ofFile += condition
            at += 1
          case If(condition) =>
            conditions :+= condition
            at += 1
          case Expect(_, _) | Error(_, _) => fail("no statement stands before this line")
          case line if line.isEmpty || line.startsWith("--") => at += 1
          case _ =>
            statements += statement(conditions)
            conditions = Nil
        }
      if (conditions.nonEmpty) fail("no statement follows the condition")
      SqlFile(name, ofFile.result(), statements.result())
    }

    private def statement(conditions: Seq[String]): SqlStatement = {
      val begin = at
      while (at < lines.size && !lines(at).trim.endsWith(";")) at += 1
      if (at == lines.size) fail("the statement has no semicolon")
      at += 1
      val text = lines.slice(begin, at).mkString("\n").trim.stripSuffix(";")
      val outcomes = Seq.newBuilder[SqlOutcome]
      var found = outcome()
      while (found.isDefined) {
        outcomes += found.get
        found = outcome()
      }
      SqlStatement(begin + 1, text, conditions, outcomes.result())
    }

    private def outcome(): Option[SqlOutcome] =
      if (at == lines.size) None
      else
        lines(at).trim match {
          case Expect(mode, condition) =>
            at += 1
            val rows = block()
            if ((mode == "no rows") != rows.isEmpty) fail("rows, or 'no rows', must follow")
            Some(SqlRows(Option(mode).getOrElse(""), Option(condition), rows))
          case Error(error, condition) =>
            at += 1
            Some(SqlError(error, Option(condition), block()))
          case _ => None
        }

    /** Returns the indented comments that follow. */
    private def block(): Seq[String] = {
      val begin = at
      while (at < lines.size && lines(at).startsWith("--   ")) at += 1
      lines.slice(begin, at).map(_.stripPrefix("--").trim)
    }

    private def fail(why: String): Nothing =
      throw new IllegalArgumentException(s"$name, line ${at + 1}: $why")
  }
}
