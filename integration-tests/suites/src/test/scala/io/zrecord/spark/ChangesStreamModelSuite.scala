package io.zrecord.spark

import scala.collection.mutable.ArrayBuffer

import io.zrecord.testing.Budget

/** Random statements and deaths of drivers: a copy that takes the changes is the table. */
class ChangesStreamModelSuite extends ChangedStreams {
  for (isPartitioned <- Seq(false, true))
    test(
      s"random statements and deaths of drivers: the changes applied to an empty list are the table, partitioned: $isPartitioned (${Budget.seed})"
    ) {
      val chance = random
      for (round <- 1 to Budget.of(15)) withClue(s"round $round: ") {
        val (table, checkpoint) = (new ChangedTable(chance, isPartitioned), freshDirectory())
        val start = if (chance.nextBoolean()) Seq("startingVersion" -> "0") else Nil
        def limits = chance.nextInt(4) match {
          case 0 => Seq("maxRecordsPerTrigger" -> s"${1 + chance.nextInt(30)}")
          case 1 => Seq("maxVersionsPerTrigger" -> s"${1 + chance.nextInt(3)}")
          case 2 => Seq("maxShardsPerTrigger" -> s"${1 + chance.nextInt(4)}")
          case _ => Nil
        }
        val found = ArrayBuffer.empty[(Long, Seq[Change])]
        def read(dies: Long): Unit = {
          val options = start ++ limits
          val source =
            if (chance.nextBoolean()) byPath(table, options: _*) else byName(table, options: _*)
          found ++= batches(source, checkpoint, dies)()
          if (chance.nextInt(3) == 0 && numbered(checkpoint, "commits").nonEmpty)
            forgetLastCommit(checkpoint)
        }
        for (_ <- 0 until 14) chance.nextInt(3) match {
          case 0 | 1 => table.any(isTold = false)
          case 2 => read(if (chance.nextBoolean()) (0L +: found.map(_._1 + 1)).max else -1)
        }
        read(-1)
        read(-1)
        val byNumber =
          found.groupBy(_._1).toSeq.sortBy(_._1).map(_._2.map(of => sorted(of._2)).distinct)
        assert(byNumber.forall(_.size == 1), "a batch that ran again had other rows")
        var copy = Map.empty[Long, Rec]
        for (rows <- byNumber.map(_.head)) {
          copy = applied(copy, rows)
          for (
            version <- rows.filter(_._1 != "insert").map(_._2).sorted.lastOption
            if version == rows.map(_._2).max
          )
            assert(copy == table.versions(version.toInt), s"the copy of version $version")
        }
        assert(copy == table.versions.last)
        if (start.nonEmpty)
          assert(sorted(byNumber.flatMap(_.head)) == sorted(table.toldBetween(0, table.last)))
      }
    }
}
