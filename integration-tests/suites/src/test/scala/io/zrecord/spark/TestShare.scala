package io.zrecord.spark

import io.zrecord.testing.Budget

import scala.util.hashing.MurmurHash3
import scala.util.matching.Regex

/** Chooses by the seed which tests of a suite run, where not all do. `-Dsuites.share=…` is the
  * share on other Sparks than the newest, and the suites that `-Dsuites.oldest=…` names are whole
  * all the same.
  */
object TestShare {

  /** The tag of tests that do not run, which the build excludes. */
  val LeftOut = "io.zrecord.spark.LeftOut"

  private val share = System.getProperty("zrecord.test.share", "1").toDouble
  require(share > 0 && share <= 1, s"suites.share is $share: give more than 0, at most 1")

  private val whole = System.getProperty("zrecord.test.whole", "(?!)").r

  /** Returns the share of a suite's tests that run: (0, 1]. */
  def of(suite: String, isRepetition: Boolean): Double = of(suite, isRepetition, share, whole)

  /** Returns the share of a suite's tests that run, if that of suites that are not whole is given.
    */
  def of(suite: String, isRepetition: Boolean, share: Double, whole: Regex): Double = {
    val ofSpark = if (whole.findFirstIn(suite).isDefined) 1 else share
    if (isRepetition) ofSpark * Budget.shareOfRepetitions() else ofSpark
  }

  /** Tells whether a test is among those that run. */
  def isChosen(suite: String, test: String, share: Double): Boolean = {
    val number = MurmurHash3.stringHash(s"${Budget.seed} $suite $test") & 0xffff
    number < share * 0x10000
  }
}
