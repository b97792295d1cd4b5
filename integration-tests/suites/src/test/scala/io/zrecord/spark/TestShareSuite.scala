package io.zrecord.spark

import org.scalatest.funsuite.AnyFunSuite

class TestShareSuite extends AnyFunSuite {
  private val names = (0 until 10000).map(k => s"test $k")

  private def chosen(share: Double) = names.filter(TestShare.isChosen("ASuite", _, share))

  test("of a share of 1 every test runs, of a half about half, and the same ones again") {
    assert(chosen(1) == names)
    assert(Math.abs(chosen(0.5).size - 5000) < 400)
    assert(chosen(0.5) == chosen(0.5))
    assert(chosen(0.2).toSet.subsetOf(chosen(0.5).toSet))
  }

  test("suites of data loss are whole, wherever they run") {
    val whole = "(?<=CommitFault|SessionCatalogRename)Suite".r
    def share(suite: String) = TestShare.of(suite, isRepetition = false, 0.5, whole)
    assert(share("CommitFaultSuite") == 1)
    assert(share("SessionCatalogRenameSuite") == 1)
    assert(share("TypesSuite") == 0.5)
  }
}
