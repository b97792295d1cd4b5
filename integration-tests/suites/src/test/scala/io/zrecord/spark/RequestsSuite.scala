package io.zrecord.spark

import java.nio.file.{Files, Paths}

import io.zrecord.spark.CountingFileSystem.Request

/** What the driver asks of a store to plan a read, and to plan and commit a write. */
class RequestsSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it counts the requests to a file system of its own"

  override protected def configuration: Map[String, String] = CountingFileSystem.Settings

  private def remotePath(): String = "count://" + freshLocalPath()

  private def ofDriver(action: => Any): Seq[Request] =
    CountingFileSystem.requestsOf(action).filterNot(_.isOfTask)

  private def shown(requests: Seq[Request]): String =
    requests.map(request => request.name + " " + request.path).mkString("\n", "\n", "\n")

  test("an append of 100 tasks asks for manifests only: its tasks have looked at their files") {
    val path = remotePath()
    def append() = write(spark.range(0, 10000, 1, 100).toDF(), path, "append")
    append()
    append()
    val requests = ofDriver(append())
    val (ofManifests, others) = requests.partition(_.path.contains("/manifest/"))
    assert(others.isEmpty, shown(others))
    // Two searches for the newest version with 4 each, and 7 to publish the next.
    assert(ofManifests.size == 15, shown(ofManifests))
    assert(read(path).count() == 30000)
  }

  test("the control: the tasks send requests, which are counted") {
    val path = remotePath()
    val requests = CountingFileSystem.requestsOf(write(spark.range(9).toDF(), path, "append"))
    assert(requests.exists(r => r.isOfTask && r.name == "create"), shown(requests))
    assert(requests.exists(r => r.isOfTask && r.name == "list"), shown(requests))
  }

  test("the plan of a read asks for four manifests, and opens no file of a shard") {
    val path = remotePath()
    (1 to 3).foreach(_ => write(spark.range(0, 10000, 1, 4).toDF(), path, "append"))
    val requests = ofDriver {
      read(path).where("id > 77").queryExecution.executedPlan.execute().getNumPartitions
    }
    assert(requests.forall(_.path.contains("/manifest/")), shown(requests))
    assert(requests.map(_.path).distinct.size == 4, shown(requests))
    // Where Spark loads the table again before the query, it asks once more.
    assert(requests.size == (if (loadsAgain) 8 else 4), shown(requests))
  }

  test("a shard that vanished since its task looked is found by the next read at the latest") {
    val path = remotePath()
    write(spark.range(9).toDF(), path, "append")
    val table = tableAt(path)
    val shard = table.latest().shards().get(0)
    assert(table.check(shard) > 0)
    table.storage().delete(shard.directory())
    assert(failure(table.check(shard)).contains("is missing"))
    assert(failure(read(path).collect()).contains(shard.id().toString))
  }

  test("a second scan through a cache on the local disk asks for no file of a shard") {
    val path = remotePath()
    write(spark.range(0, 10000, 1, 4).toDF(), path, "append")
    val directory = Files.createDirectories(Paths.get(freshLocalPath()))
    val free = Files.getFileStore(directory).getUsableSpace
    assume(free > (11L << 30), "a cache keeps nothing on a disk with less than 10 GiB free")
    val cache = Seq("zrecord.cache.directory" -> directory.toString, "zrecord.cache.bytes" -> "64m")
    def ofShards(options: (String, String)*): Seq[Request] = CountingFileSystem
      .requestsOf(assert(rows(read(path, options: _*)).map(_.getLong(0)) == (0L until 10000L)))
      .filterNot(_.path.contains("/manifest/"))
    assert(ofShards(cache: _*).nonEmpty)
    val again = ofShards(cache: _*)
    assert(again.isEmpty, shown(again))
    assert(ofShards().nonEmpty)
  }

  test("an option of the cache that cannot be obeyed is refused") {
    val path = remotePath()
    write(spark.range(9).toDF(), path, "append")
    assert(failure(read(path, "zrecord.cache.bytes" -> "64m")).contains("cache.directory"))
    val directory = "zrecord.cache.directory" -> freshLocalPath()
    assert(failure(read(path, directory, "zrecord.cache.bytes" -> "much")).contains("'much'"))
    assert(
      failure(read(path, directory, "zrecord.cache.size" -> "1g").count()).contains("cache.size")
    )
  }
}
