package io.zrecord.spark

import scala.collection.mutable
import scala.util.{Failure, Success, Try}

import io.zrecord.errors.CommitConflictException
import io.zrecord.spark.OutcomesPage._
import io.zrecord.spark.PairedOperations.Second
import io.zrecord.testing.Budget
import org.apache.spark.SparkThrowable

/** Two operations on one table at once, in all pairs. One is stopped, another one runs whole and
  * commits, and the first goes on. What becomes of it is what docs/reference/concurrent-changes.md
  * says, and the table has what lists have that were changed in the same way.
  */
class OutcomesOfPairsSuite extends PairedTables {
  private val page = OutcomesPage.read()

  /** An operation that comes first, as the page names it. */
  private case class First(name: String, operation: PairedOperation, role: Role) {
    def effect(t: ListedTable): ListedTable = operation.effect(t, role)
  }

  private val firsts =
    for (operation <- PairedOperations.All; (name, role) <- operation.firsts)
      yield First(name, operation, role)

  private def isRelayout(operation: PairedOperation) = operation.name == "relayout"

  /** Only a table without partitions can be put into another order. */
  private def isPartitioned(first: First, operation: PairedOperation) =
    !isRelayout(first.operation) && !isRelayout(operation)

  private def isPair(first: First, operation: PairedOperation) =
    isPartitioned(first, operation) || !first.operation.isOfPartitions && !operation.isOfPartitions

  private def isThere(operation: PairedOperation) = {
    def numbers(version: String) = version.split('.').take(2).map(_.toInt).toSeq
    val (Seq(major, minor), Seq(itsMajor, itsMinor)) =
      (numbers(spark.version), numbers(operation.since))
    major > itsMajor || (major == itsMajor && minor >= itsMinor)
  }

  private def pairTest(operation: PairedOperation, first: First) =
    s"${operation.name} is published, but ${first.name} comes first"

  /** Marks the tests of pairs that are left out: four of five, unless the scale says otherwise. */
  override def tags: Map[String, Set[String]] = {
    val own = super.tags
    val share = math.min(1, Budget.of(1000) / 1000.0)
    val leftOut = for {
      operation <- PairedOperations.All
      first <- firsts
      if isPair(first, operation)
      name = pairTest(operation, first)
      if !TestShare.isChosen(suiteName, name, share)
    } yield name
    own ++ leftOut.map(name => name -> (own.getOrElse(name, Set.empty) + TestShare.LeftOut))
  }

  /** Requires the outcome, and what the table then has. */
  private def requireOutcome(
      outcome: Outcome,
      operation: PairedOperation,
      first: First,
      found: Try[Unit],
      pair: Pair
  ): Unit = {
    val created = PairedOperations.Created
    val expected = outcome match {
      case Both => operation.effect(first.effect(created), Second)
      case Earlier => first.effect(operation.effect(created, Second))
      case Conflict | Failed => first.effect(created)
    }
    (outcome, found) match {
      case (Both | Earlier, _) => found.get
      case (Conflict, Failure(e)) => assert(isConflict(operation, e), messages(e))
      case (Failed, Failure(e)) => requireRefusal(first, e)
      case (_, Success(_)) => fail(s"${operation.name} was not refused")
    }
    assert(pair.listed == expected.shown)
  }

  /** Tells whether an error is what the page says of conflicts. */
  private def isConflict(operation: PairedOperation, e: Throwable): Boolean = e match {
    case known: SparkThrowable =>
      known.getErrorClass == "ZRECORD_COMMIT_CONFLICT" && known.getSqlState == "40001"
    case _: CommitConflictException => !operation.isStatement(spark)
    case refused: PairedOperation.NotRebalanced =>
      refused.getMessage.contains("Cannot commit the rebalance")
    case _ => false
  }

  /** Requires what the page says of what is gone. */
  private def requireRefusal(first: First, e: Throwable): Unit = {
    val message = messages(e)
    val words = first.operation.name match {
      case "DROP" => "There is no zrecord table"
      case "ADD CONSTRAINT" => "INCOMPATIBLE_DATA_FOR_TABLE"
      case "expire" => "it was expired"
      case _ => "there is no such column"
    }
    assert(message.contains(words) && !message.contains("CONFLICT"), message)
  }

  test("the page has each operation once, and names no other") {
    assert(page.operations == PairedOperations.All.map(_.name))
    assert(page.named.diff(firsts.map(_.name).toSet).isEmpty)
  }

  for (operation <- PairedOperations.All; first <- firsts if isPair(first, operation))
    test(pairTest(operation, first)) {
      assume(isThere(operation) && isThere(first.operation), s"${spark.version} is older")
      val pair = new Pair(isPartitioned(first, operation))
      val found = pair.interrupted(operation)(first.operation, first.role) { (_, request, path) =>
        HeldFileSystem.isPublication(request, path)
      }
      requireOutcome(page.of(operation.name, first.name), operation, first, found, pair)
    }

  for (operation <- PairedOperations.All)
    test(s"${operation.name} is stopped at any request, and others come first") {
      assume(isThere(operation), s"${spark.version} is older")
      val others = firsts.filter { first =>
        val isGone = !operation.isPossible(first.effect(PairedOperations.Created), Second)
        isPair(first, operation) && isThere(first.operation) && !(isGone && operation.makesAnew)
      }
      val requests = mutable.Map[Boolean, Int]()
      for (first <- chance.shuffle(others).take(Budget.of(20))) {
        val isOfPartitions = isPartitioned(first, operation)
        val count = requests
          .getOrElseUpdate(isOfPartitions, new Pair(isOfPartitions).requestsOf(operation))
        val request = 1 + chance.nextInt(count)
        val pair = new Pair(isOfPartitions)
        val found =
          pair.interrupted(operation)(first.operation, first.role)((at, _, _) => at == request)
        withClue(s"request $request, ${first.name}: ") {
          requireOneOf(operation, first, found, pair)
        }
      }
    }

  /** Tells whether Spark has refused a statement because its table has other columns than when the
    * statement was analyzed, or a column that an INSERT leaves out.
    */
  private def isRefusedBySpark(e: Throwable): Boolean =
    Seq(
      "INCOMPATIBLE_TABLE_CHANGE_AFTER_ANALYSIS",
      "INSERT_COLUMN_ARITY_MISMATCH",
      "CANNOT_FIND_DATA"
    ).exists(messages(e).contains)

  /** Requires the outcome of the page, or that of one after the other. */
  private def requireOneOf(
      operation: PairedOperation,
      first: First,
      found: Try[Unit],
      pair: Pair
  ): Unit = {
    val outcome = page.of(operation.name, first.name)
    val after = first.effect(PairedOperations.Created)
    found match {
      case Success(_) =>
        val planned = outcome match {
          case Earlier => first.effect(operation.effect(PairedOperations.Created, Second))
          case _ => operation.effect(after, Second)
        }
        val anew = operation.anew.getOrElse(operation.effect)(after, Second)
        val orders = Seq(anew) ++ Seq(planned).filterNot(_ => outcome == Conflict)
        val isRefused = outcome == Conflict || outcome == Failed
        assert(!isRefused || operation.isPossible(after, Second))
        assert(orders.map(_.shown).contains(pair.listed))
      case Failure(e) =>
        val isExpected = outcome == Conflict || outcome == Failed ||
          !operation.isPossible(after, Second)
        assert(isExpected || isRefusedBySpark(e), messages(e))
        assert(pair.listed == after.shown)
    }
  }
}
