package io.zrecord.spark

import scala.collection.JavaConverters._
import scala.util.Random

import io.zrecord.RecordDatasetWriter
import io.zrecord.rebalance.{RebalanceOptions, RebalancePlan, TableRebalance}
import io.zrecord.schema.{Compression, ElementType, FieldRules, FieldSpec, Identity, RecordSchema}
import io.zrecord.schema.Shape
import io.zrecord.shard.WriteOptions
import io.zrecord.table.{ChangeBase, MergeChange, RowChange, ShardChangeWriter}
import io.zrecord.testing.Budget
import org.apache.spark.sql.Row

/** Spark reads what the engine has changed: patches, changes of so many values that a field got
  * tables of its own, changes that were carried over a rebalance, and fields that shards lack.
  */
class EngineChangesSuite extends SparkSuite with NumberedTables {
  private def random: Random = chance

  /** Each task writes a chunk, and these are more than a patch may have. */
  private val WideTasks = 65

  private case class Record(id: Long, text: String, label: Option[Int], late: Int) {
    def row(index: Long): Row = Row(id, text, label.map(Int.box).orNull, late, index)
  }

  /** A table, and what its records must be. */
  private class Model {
    val path: String = numberedTable(Identity.always(1, 1, 1))
    var records = IndexedSeq.empty[Record]
    private def table = tableAt(path)

    private def someLabel(): Option[Int] =
      if (random.nextInt(5) == 0) None else Some(random.nextInt(1000))

    /** Appends by Spark, which numbers the records. */
    def append(count: Int): Unit = {
      val rows = (0 until count).map { _ =>
        Row("t" + random.nextInt(100), someLabel().map(Int.box).orNull)
      }
      val columns = spark.sql("select '' text, nullif(0, 0) label, 5 late").schema
      val late = table.latest().schema().find("late").isPresent
      val data = spark.createDataFrame(
        rows.map(row => Row(row.get(0), row.get(1), 5)).asJava,
        columns
      )
      write((if (late) data else data.drop("late")).repartition(2), path, "append")
      val appended =
        read(path, "numPartitions" -> "1").where(s"_index >= ${records.size}").collect()
      assert(appended.length == count)
      records ++= appended.map { row =>
        Record(
          row.getAs[Long]("id"),
          row.getAs[String]("text"),
          Option(row.getAs[Integer]("label")).map(_.intValue),
          if (late) row.getAs[Int]("late") else 7
        )
      }
    }

    /** Collects changes of some records, which are in the model already. */
    def change(): RowChange = {
      val change = RowChange.of(table.latest())
      val deleted = random.shuffle(records.indices.toList).take(records.size / 10).toSet
      val changed = records.indices.map { i =>
        val record = records(i)
        if (deleted(i)) {
          change.delete(i.toLong)
          None
        } else if (random.nextInt(4) == 0) {
          val label = someLabel()
          change.update(i.toLong, "label", label.map(Int.box).orNull)
          if (random.nextBoolean()) {
            change.update(i.toLong, "text", "u" + i)
            Some(record.copy(label = label, text = "u" + i))
          } else Some(record.copy(label = label))
        } else Some(record)
      }
      records = changed.flatten
      change
    }

    /** Gives labels to all records of the first shard, by so many tasks that a patch overflows. */
    def changeWidely(): Unit = {
      val base = table.latest()
      val shard = base.shards().get(0)
      val merge = MergeChange.of(base)
      for (task <- 0 until WideTasks) {
        val writer = ShardChangeWriter.open(
          base.storage(),
          ChangeBase.of(base),
          shard,
          java.util.Collections.singleton("label")
        )
        try {
          for (i <- task until shard.length().toInt by WideTasks) {
            val label = random.nextInt(1000)
            writer.update(i.toLong, "label", label)
            records = records.updated(i, records(i).copy(label = Some(label)))
          }
          merge.change(writer.finish())
        } finally writer.close()
      }
      merge.commit()
      val files = table.latest().shards().get(0).tables().asScala.map(_.id()).toSet
      val known = shard.tables().asScala.map(_.id()).toSet
      assert((files -- known).size == 1, "the change was to overflow a patch")
    }

    def rebalance(): Unit = {
      val options = RebalanceOptions.defaults().withAllShards()
      TableRebalance.of(RebalancePlan.of(table.latest(), options)).threads(1).run()
    }

    /** Commits a change that was planned before a rebalance, whose values are another shard's. */
    def changeBesideARebalance(): Unit = {
      val planned = change()
      rebalance()
      planned.commit()
      val shard = table.latest().shards().get(0)
      assert(shard.patch() != null, "the change was to be carried")
    }

    def addField(): Unit = {
      val late = new FieldSpec(9, "late", ElementType.I32, Shape.scalar(), Compression.RAW)
        .withRules(FieldRules.NONE.withInitial(Array[Byte](7, 0, 0, 0)))
      table.addFields(java.util.Collections.singletonList(late))
    }

    def requireRead(what: String): Unit = {
      val hasLate = table.latest().schema().find("late").isPresent
      val expected = records.zipWithIndex.map { case (record, i) =>
        val row = record.row(i.toLong)
        if (hasLate) row else Row(row.get(0), row.get(1), row.get(2), row.get(4))
      }
      val data = read(path)
      assert(rows(data) == expected, what)
      assert(data.count() == records.size, what)
      assert(data.where("label is null").count() == records.count(_.label.isEmpty), what)
      assert(
        data.selectExpr("count(label)").head().getLong(0) == records.count(_.label.isDefined),
        what
      )
      val bound = random.nextInt(1000)
      for (
        (condition, isMet) <- chosen(
          Seq[(String, Record => Boolean)](
            (s"label < $bound", _.label.exists(_ < bound)),
            (s"label = $bound", _.label.contains(bound)),
            (
              s"label >= $bound and text like 'u%'",
              r => r.label.exists(_ >= bound) && r.text.startsWith("u")
            ),
            (s"id between $bound and ${bound + 500}", r => r.id >= bound && r.id <= bound + 500)
          )
        )
      ) {
        val indices = records.indices.filter(i => isMet(records(i))).map(_.toLong)
        val found = data.where(condition).select("_index").collect().map(_.getLong(0)).toSeq.sorted
        assert(found == indices, s"$what: $condition")
        assert(data.where(condition).count() == indices.size, s"$what: $condition")
      }
      val wanted = Seq.fill(7)(random.nextInt(records.size).toLong).distinct.sorted
      val some =
        data.where(wanted.mkString("_index in (", ", ", ")")).select("_index", "id", "label")
      assert(
        some.collect().sortBy(_.getLong(0)).toSeq == wanted.map { i =>
          val record = records(i.toInt)
          Row(i, record.id, record.label.map(Int.box).orNull)
        },
        what
      )
      val from = random.nextInt(records.size)
      assert(data.where(s"_index >= $from").count() == records.size - from, what)
      assert(
        data.where(s"_index >= $from and label < $bound").count() ==
          records.drop(from).count(_.label.exists(_ < bound)),
        what
      )
    }
  }

  private val steps: Seq[(String, Model => Unit)] = Seq(
    "a patch" -> (_.change().commit()),
    "a wide change" -> (_.changeWidely()),
    "a change beside a rebalance" -> (_.changeBesideARebalance()),
    "an append by Spark" -> (_.append(40))
  )

  for ((what, step) <- steps)
    test(
      s"records after $what are read by scan, condition, index and count (seed ${Budget.seed})"
    ) {
      val model = new Model
      model.append(200)
      model.append(130)
      val before = tableAt(model.path).latest().version()
      val old = model.records
      step(model)
      if (random.nextBoolean()) model.requireRead(what)
      step(model)
      model.requireRead(what + " again")
      val earlier = read(model.path, "versionAsOf" -> before.toString)
      assert(earlier.count() == old.size)
      assert(
        earlier.select("id").orderBy("_index").collect().map(_.getLong(0)).toSeq == old.map(_.id)
      )
    }

  test(s"records after changes of all kinds are read (seed ${Budget.seed})") {
    for (_ <- 0 until Budget.of(5)) {
      val model = new Model
      model.append(300)
      model.append(90)
      var done = "new"
      model.change().commit()
      model.addField()
      for ((what, step) <- random.shuffle(steps)) {
        done += ", " + what
        step(model)
        model.requireRead(done)
      }
    }
  }
}
