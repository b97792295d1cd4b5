package io.zrecord.spark.own

import scala.io.Source
import scala.util.Using

/** The list of tests that are left out: left-out.txt, whose head says how it is written. */
object LeftOut {
  private final case class Line(releases: Set[String], suite: String, test: String)

  private val text: Seq[String] =
    Using.resource(Source.fromFile(System.getProperty("zrecord.own.left.out"), "UTF-8"))(
      _.getLines().map(_.trim).filterNot(line => line.isEmpty || line.startsWith("#")).toList
    )

  private val (reasons, tests) = text.partition(_.startsWith("="))

  private val known = reasons.map(_.drop(1).takeWhile(_ != ':').trim).toSet

  private val lines: Seq[Line] = tests.map { line =>
    line.split('|').map(_.trim) match {
      case Array(releases, suite, test, reason) if known(reason) =>
        Line(releases.split(' ').toSet, suite, test)
      case _ => throw new IllegalArgumentException(s"Cannot read this line of left-out.txt: $line")
    }
  }

  private val runsAll = java.lang.Boolean.getBoolean("zrecord.own.all")

  /** Tells whether a test is left out on this Spark. A star at the end stands for any rest. */
  def has(suite: String, test: String): Boolean =
    !runsAll && lines.exists(line =>
      line.releases(Own.release) && line.suite == suite && matches(line.test, test)
    )

  private def matches(pattern: String, name: String): Boolean =
    if (pattern.endsWith("*")) name.startsWith(pattern.init)
    else name == pattern
}
