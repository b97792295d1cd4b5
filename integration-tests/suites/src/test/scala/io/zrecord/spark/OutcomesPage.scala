package io.zrecord.spark

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

/** What docs/reference/concurrent-changes.md says: the outcome of each operation that commits after
  * another one has come first.
  */
final class OutcomesPage private (groups: Map[String, Set[String]], rows: Seq[Seq[String]]) {
  import OutcomesPage._

  /** The operations that commit second, in the order of the page. */
  val operations: Seq[String] = rows.map(_.head)

  private val outcomes: Map[String, Map[String, Outcome]] =
    rows.map { case Seq(operation, conflicts, failures, earlier) =>
      val said = Seq(conflicts -> Conflict, failures -> Failed, earlier -> Earlier).flatMap {
        case (cell, outcome) => expanded(cell).toSeq.map(_ -> outcome)
      }
      require(said.map(_._1).distinct.size == said.size, s"$operation has two outcomes: $said")
      operation -> said.toMap
    }.toMap

  /** Returns all names of operations that come first, with the groups that they are in. */
  def named: Set[String] = groups.values.flatten.toSet ++ outcomes.values.flatMap(_.keys)

  def of(second: String, first: String): Outcome = outcomes(second).getOrElse(first, Both)

  private def expanded(cell: String): Set[String] =
    names(cell).flatMap(name => groups.getOrElse(name, Set(name)))
}

object OutcomesPage {
  sealed trait Outcome

  /** Both take effect, as if the second came after the first. */
  case object Both extends Outcome

  /** Both take effect, as if the second came before the first. */
  case object Earlier extends Outcome

  /** The second is refused as a conflict. */
  case object Conflict extends Outcome

  /** The second is refused, because what it names is gone or other than it was. */
  case object Failed extends Outcome

  private val path = Paths
    .get(System.getProperty("zrecord.test.sql"))
    .resolve("../../docs/reference/concurrent-changes.md")
    .normalize()

  def read(): OutcomesPage = {
    val lines = Files.readAllLines(path).asScala.toSeq
    def rows(heading: String): Seq[Seq[String]] =
      lines
        .dropWhile(_ != s"## $heading")
        .drop(1)
        .takeWhile(!_.startsWith("## "))
        .filter(_.startsWith("|"))
        .drop(2)
        .map(_.split("\\|", -1).toSeq.drop(1).dropRight(1).map(_.trim))
    val groups = rows("Groups").foldLeft(Map[String, Set[String]]()) {
      case (known, Seq(name, of)) =>
        known + (name -> names(of).flatMap(one => known.getOrElse(one, Set(one))))
    }
    new OutcomesPage(groups, rows("Outcomes"))
  }

  /** Returns what a cell lists. */
  private def names(cell: String): Set[String] =
    cell.split(",").map(_.trim).filter(_.nonEmpty).toSet
}
