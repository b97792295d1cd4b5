package io.zrecord.spark

import io.zrecord.spark.CountingFileSystem.Request

/** What reads of partitions ask of a store. */
class PartitionedRequestsSuite extends SparkSuite with RunsOnce {
  override protected def whyOnce: String = "it counts the requests to a file system of its own"

  override protected def configuration: Map[String, String] = CountingFileSystem.Settings

  test("a read of one partition opens no file of another, and one of none opens no file at all") {
    val path = "count://" + freshLocalPath()
    spark
      .range(0, 90)
      .selectExpr("id", "id % 9 p")
      .write
      .format("zrecord")
      .partitionBy("p")
      .save(path)
    val shards = tableAt(path).latest().shards()
    assert(shards.size() == 9)
    def ofShards(where: String): Seq[Request] = CountingFileSystem
      .requestsOf(read(path).where(where).collect())
      .filter(_.path.contains("/shard/"))
    assert(ofShards("p = 4").nonEmpty)
    assert(ofShards("p = 4").forall(_.path.contains(shards.get(4).id().toString)))
    assert(ofShards("p > 8").isEmpty)
    assert(ofShards("p is null or p in (77, 78)").isEmpty)
    assert(
      CountingFileSystem
        .requestsOf(read(path).where("p < 4").count())
        .forall(!_.path.contains("/shard/"))
    )
  }
}
