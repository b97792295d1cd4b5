package io.zrecord.spark

import java.io.File
import java.nio.file.Files

import io.zrecord.RecordDatasetWriter
import io.zrecord.shard.WriteOptions
import io.zrecord.spark.catalog.ZRecordTables
import io.zrecord.spark.path.{ReadPaths, SparkStorages}
import org.apache.commons.io.FileUtils
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec

/** Cached tables: used while they are right, and never when they are not. */
class CacheSuite extends SparkSuite {
  private val names = Iterator.from(1).map(n => s"cached_table_$n")

  private def isNewer = spark.version.takeWhile(_ != '.').toInt >= 4

  private def hits(query: DataFrame): Boolean =
    query.queryExecution.withCachedData.collectLeaves().exists(_.isInstanceOf[InMemoryRelation])

  private def dataset(): String = {
    val path = freshPath()
    write(spark.range(5).toDF("id"), path, "append")
    path
  }

  private def more = spark.range(7).toDF("id")

  private val ways = Seq[(String, String => Unit, Long)](
    ("save by path", path => write(more, path, "append"), 12),
    ("save by path with overwrite", path => write(more, path, "overwrite"), 7),
    ("insert", path => spark.sql(s"insert into zrecord.`$path` select id from range(7)"), 12),
    (
      "insert overwrite",
      path => spark.sql(s"insert overwrite zrecord.`$path` select id from range(7)"),
      7
    ),
    ("insertInto", path => more.write.insertInto(s"zrecord.`$path`"), 12),
    ("writeTo", path => more.writeTo(s"zrecord.`$path`").append(), 12),
    (
      "saveAsTable",
      path => more.write.mode("append").saveAsTable(s"zrecord.`$path`"),
      12
    ),
    (
      "replace",
      path => spark.sql(s"create or replace table zrecord.`$path` as select id from range(7)"),
      7
    )
  )

  for ((way, change, expected) <- ways)
    test(s"a cached table is hit, and is fresh after: $way") {
      val path = dataset()
      val name = s"zrecord.`$path`"
      spark.sql(s"cache table $name")
      assert(hits(spark.table(name)))
      assert(hits(spark.sql(s"select id + 1 from $name")))
      assert(spark.table(name).count() == 5)
      change(path)
      assert(spark.table(name).count() == expected)
      if (loadsAgain && way != "replace") {
        assert(spark.catalog.isCached(name))
        assert(hits(spark.table(name)))
      }
      assert(spark.table(name).collect().length == expected)
      assert(spark.sql(s"select count(*) from $name").head().getLong(0) == expected)
      assert(read(path).count() == expected)
      spark.sql(s"cache table $name")
      assert(hits(spark.table(name)))
      assert(spark.table(name).count() == expected)
      spark.sql(s"uncache table if exists $name")
    }

  test("a cached table stays cached, and is fresh, after commits of other processes") {
    val path = dataset()
    val name = s"zrecord.`$path`"
    val derived = spark.table(name).where("id >= 0").cache()
    spark.sql(s"cache table $name")
    assert(spark.table(name).count() == 5)
    assert(derived.count() == 5)
    for (expected <- Seq(6, 7)) {
      appendElsewhere(path)
      assert(spark.table(name).count() == expected)
      assert(spark.table(name).where("id >= 0").count() == expected)
      assert(read(path).count() == expected)
      assert(derived.count() == (if (loadsAgain) expected else 5))
      if (loadsAgain) assert(hits(spark.table(name)))
    }
    spark.catalog.clearCache()
  }

  test("a cached table is never one that was made anew at the same path") {
    val path = dataset()
    val name = s"zrecord.`$path`"
    spark.sql(s"cache table $name")
    assert(spark.table(name).count() == 5)
    val directory = new org.apache.hadoop.fs.Path(path)
    directory
      .getFileSystem(spark.sparkContext.hadoopConfiguration)
      .delete(directory, true)
    write(spark.range(3).toDF("id"), path, "append")
    assert(spark.table(name).count() == 3)
    assert(read(path).count() == 3)
    spark.catalog.clearCache()
  }

  testLocally("a backup that is put in place of a newer version is what is read") {
    assume(loadsAgain)
    for (at <- Seq[String => String](identity, path => s"zrecord.`$path`")) {
      val path = dataset()
      def shown: DataFrame = {
        val name = at(path)
        if (name == path) read(path) else spark.table(name)
      }
      val backup = Files.createTempDirectory("backup").toFile
      FileUtils.copyDirectory(new File(path), backup)
      shown.cache()
      for (rows <- Seq(6, 7)) {
        appendElsewhere(path)
        assert(shown.count() == rows)
      }
      FileUtils.deleteDirectory(new File(path))
      FileUtils.copyDirectory(backup, new File(path))
      assert(shown.count() == 5)
      assert(shown.collect().length == 5)
      assert(at(path) == path || hits(shown))
      appendElsewhere(path)
      assert(shown.count() == 6)
      spark.catalog.clearCache()
    }
  }

  /** Returns what holds the cached rows of a query. */
  private def cachedRows(query: DataFrame): AnyRef =
    query.queryExecution.withCachedData
      .collectFirst { case cached: InMemoryRelation => cached.cacheBuilder }
      .getOrElse(fail("nothing is cached"))

  test("a load that arrives late, after the load of a newer version, replaces nothing cached") {
    assume(loadsAgain)
    val path = dataset()
    val name = s"zrecord.`$path`"
    val identifier = Identifier.of(Array.empty[String], path)
    val old = ZRecordTables.loadDefault(ReadPaths.literal(path))
    spark.sql(s"cache table $name")
    assert(spark.table(name).count() == 5)
    appendElsewhere(path)
    assert(spark.table(name).count() == 6)
    val cached = cachedRows(spark.table(name))
    old.loadedAs("zrecord", identifier)
    assert(cachedRows(spark.table(name)) eq cached)
    assert(spark.table(name).count() == 6)
    spark.catalog.clearCache()
  }

  test("what another session has cached under a name of its own is fresh after a commit") {
    assume(loadsAgain)
    val path = dataset()
    val other = spark.newSession()
    other.conf.set("spark.sql.catalog.own", "io.zrecord.spark.ZRecordCatalog")
    val name = s"own.`$path`"
    other.sql(s"cache table $name")
    assert(other.table(name).count() == 5)
    write(more, path, "append")
    assert(other.table(name).count() == 12)
    assert(hits(other.table(name)))
    appendElsewhere(path)
    assert(other.table(name).count() == 13)
    spark.catalog.clearCache()
  }

  /** Appends a record as another process does, of which Spark learns nothing. */
  private def appendElsewhere(path: String): Unit = {
    val table = tableAt(path)
    val writer = RecordDatasetWriter.append(
      SparkStorages.storageFor(path),
      table.latest().schema(),
      WriteOptions.defaults()
    )
    try {
      writer.newAppender().set("id", 77L).endRecord()
      writer.commit()
    } finally writer.close()
  }

  test(
    "a cached data frame is hit by the same read, and is what this Spark makes of it after a write"
  ) {
    val path = dataset()
    val data = read(path).cache()
    try {
      assert(data.count() == 5)
      assert(hits(read(path)))
      write(more, path, "append")
      assert(!hits(read(path)))
      assert(read(path).count() == 12)
      assert(data.count() == (if (loadsAgain) 12 else 5))
    } finally data.unpersist()
  }

  test("a cached table of the session's catalog is fresh after every write") {
    assume(isNewer)
    for (
      (write, expected) <- Seq[((String, String) => Unit, Long)](
        ((_, path) => this.write(more, path, "append"), 12),
        ((_, path) => spark.sql(s"insert into zrecord.`$path` select id from range(7)"), 12),
        ((name, _) => spark.sql(s"insert into $name select id from range(7)"), 12),
        ((name, _) => more.write.insertInto(name), 12),
        ((name, _) => more.write.format("zrecord").mode("append").saveAsTable(name), 12),
        ((name, _) => spark.sql(s"insert overwrite $name select id from range(7)"), 7)
      )
    ) {
      val path = dataset()
      val name = names.next()
      spark.sql(s"drop table if exists $name")
      spark.sql(s"create table $name using zrecord location '$path'")
      spark.sql(s"cache table $name")
      assert(hits(spark.table(name)))
      assert(spark.table(name).count() == 5)
      write(name, path)
      assert(spark.table(name).count() == expected)
      assert(spark.table(name).collect().length == expected)
      spark.sql(s"drop table $name")
    }
  }

  test("an older version is not taken for the newest that is cached, and the other way round") {
    val path = dataset()
    write(more, path, "append")
    val name = s"zrecord.`$path`"
    spark.sql(s"cache table $name")
    assert(spark.sql(s"select * from $name version as of 0").collect().length == 5)
    assert(spark.read.option("versionAsOf", "0").table(name).count() == 5)
    assert(spark.read.option("indices", "1,2").table(name).count() == 2)
    assert(read(path, "versionAsOf" -> "0").count() == 5)
    assert(spark.table(name).count() == 12)
    spark.sql(s"uncache table $name")
  }

  test("what is cached with defaults of a session is not taken for a read without them") {
    val path = dataset()
    val name = s"zrecord.`$path`"
    def withDefault[T](key: String, value: String)(action: => T): T = {
      spark.conf.set(s"spark.datasource.zrecord.$key", value)
      try action
      finally spark.conf.unset(s"spark.datasource.zrecord.$key")
    }
    for ((key, value, count) <- Seq(("indices", "0,1", 2), ("numSamples", "3", 3))) {
      withDefault("sampler", "shuffle") {
        withDefault(key, value) {
          if (key == "indices") spark.conf.unset("spark.datasource.zrecord.sampler")
          spark.sql(s"cache table $name")
          assert(spark.table(name).count() == count, key)
          assert(hits(spark.table(name)), key)
        }
      }
      assert(spark.table(name).count() == 5, key)
      assert(spark.sql(s"select id from $name").collect().length == 5, key)
      spark.catalog.clearCache()
    }
    // A table keeps the defaults that it was loaded with.
    val loaded = withDefault("indices", "0,1")(spark.table(name))
    assert(loaded.count() == 2)
    assert(spark.table(name).count() == 5)
  }

  test("a cached list of versions is fresh after a tag") {
    val path = dataset()
    def tags = read(path, "view" -> "versions").select("tags").collect().toSeq
    read(path, "view" -> "versions").cache()
    val before = tags
    tag(path, "v1")
    assert(tags != before)
    spark.catalog.clearCache()
  }

  test("a cached read stays cached after a tag, which changes no records") {
    val path = dataset()
    read(path).cache()
    assert(read(path).count() == 5)
    tag(path, "v1")
    assert(hits(read(path)))
    tableAt(path).untag("v1")
    assert(hits(read(path)) && read(path).count() == 5)
    write(more, path, "append")
    assert(!hits(read(path)))
    assert(read(path).count() == 12)
    spark.catalog.clearCache()
  }

  test("a cached view of files is fresh after a tag, which makes a manifest") {
    val path = dataset()
    def manifests = read(path, "view" -> "files")
      .where("kind = 'manifest'")
      .select("file")
      .collect()
      .map(_.getString(0))
      .toSeq
    read(path, "view" -> "files").cache()
    assert(manifests.map(_.contains("00000.json")) == Seq(true))
    assert(hits(read(path, "view" -> "files")))
    tag(path, "v1")
    assert(manifests.map(_.contains("00001.json")) == Seq(true))
    spark.catalog.clearCache()
  }

  test("scans of two versions with the same records are the same scan") {
    val path = dataset()
    def scans(options: (String, String)*) = read(path, options: _*).queryExecution.executedPlan
      .collect { case scan: BatchScanExec => scan.scan }
    val orders = Seq(Seq(), Seq("sampler" -> "shuffle"))
    val before = orders.map(scans(_: _*))
    assert(before.map(_.length) == Seq(1, 1))
    tag(path, "v1")
    assert(orders.map(scans(_: _*)) == before)
    write(more, path, "append")
    for ((now, earlier) <- orders.map(scans(_: _*)).zip(before)) assert(now != earlier)
  }

  private def tag(path: String, name: String): Unit =
    tableAt(path).tag(0, name)

  test("a cached view of a dataset is fresh after a write") {
    val path = dataset()
    read(path, "view" -> "versions").cache()
    assert(read(path, "view" -> "versions").count() == 1)
    assert(hits(read(path, "view" -> "versions")))
    write(more, path, "append")
    assert(read(path, "view" -> "versions").count() == 2)
    spark.catalog.clearCache()
  }
}
