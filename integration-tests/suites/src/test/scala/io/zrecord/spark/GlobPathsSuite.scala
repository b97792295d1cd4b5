package io.zrecord.spark

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.Row

/** Patterns in the paths of reads, and none in the paths of writes. */
class GlobPathsSuite extends SparkSuite {

  /** Writes a dataset of one record for each name, below a new directory. */
  private def datasets(names: String*): String = {
    val base = freshPath()
    names.foreach(name => writeTo(s"$base/$name", name))
    base
  }

  private def writeTo(path: String, name: String, mode: String = "append"): Unit =
    write(spark.range(1).selectExpr(s"'${name.replace("\\", "\\\\")}' name"), path, mode)

  private def names(paths: String*): Seq[String] =
    names(spark.read.format("zrecord").load(paths: _*))

  private def names(data: org.apache.spark.sql.DataFrame): Seq[String] =
    data.select("name", "_index").orderBy("_index").collect().toSeq.map(_.getString(0))

  private def files(path: String) =
    new Path(path).getFileSystem(spark.sessionState.newHadoopConf())

  test("a pattern names all directories that match, in the order of their paths") {
    val base =
      datasets("2025-2/train", "2026-1/train", "2025-10/train", "2025-2/test", "2024-1/train")
    for (prefix <- if (base.startsWith("/")) Seq("", "file:", "file://") else Seq("")) {
      val there = prefix + base
      assert(
        names(s"$there/{2025,2026}-*/train") == Seq("2025-10/train", "2025-2/train", "2026-1/train")
      )
      assert(names(s"$there/202[46]-?/train") == Seq("2024-1/train", "2026-1/train"))
      assert(names(s"$there/{2025-2/te,2026-1/trai}*") == Seq("2025-2/test", "2026-1/train"))
    }
  }

  test("several patterns and paths keep the order in which they are given") {
    val base = datasets("a1", "a2", "b1", "b2")
    assert(names(s"$base/b*", s"$base/a2", s"$base/a*") == Seq("b1", "b2", "a2", "a1", "a2"))
  }

  test("a path that exists is no pattern") {
    val base = datasets("a*", "ab", "[a]", "a", "{x,y}", "x")
    assert(names(s"$base/a*") == Seq("a*"))
    assert(names(s"$base/[a]") == Seq("[a]"))
    assert(names(s"$base/{x,y}") == Seq("{x,y}"))
    assert(names(s"$base/a?") == Seq("a*", "ab"))
    assert(names(s"$base/a\\*") == Seq("a*"))
  }

  test("nothing that matches is an error with the pattern") {
    val base = datasets("a")
    files(base).create(new Path(base, "b-file")).close()
    for (pattern <- Seq(s"$base/b*", s"$base/c/{a,b}", s"$base/nowhere/*/train")) {
      for (
        message <- Seq(
          failure(read(pattern)),
          failure(spark.sql(s"select * from zrecord.`$pattern`"))
        )
      ) assert(message.contains(pattern) && message.contains("globPaths=false"), message)
    }
    val broken = failure(read(s"$base/{a"))
    assert(broken.contains(s"$base/{a") && broken.contains("backslash"), broken)
  }

  test("a directory that matches and is no dataset is an error with its path") {
    val base = datasets("a1")
    files(base).mkdirs(new Path(base, "a2"))
    assert(failure(read(s"$base/a*")).contains(s"$base/a2"))
    writeTo(s"$base/a1", "x")
    write(spark.range(1).toDF("other"), s"$base/a3", "append")
    assert(failure(read(s"$base/a[13]")).contains(s"$base/a3"))
  }

  test("globPaths=false takes every path as it is") {
    val base = datasets("a1", "a2")
    val off = "globPaths" -> "false"
    assert(failure(read(s"$base/a*", off)).contains(s"$base/a*"))
    writeTo(s"$base/a?", "odd")
    assert(names(read(s"$base/a?", off)) == Seq("odd"))
    assert(failure(read(s"$base/a?", "globPaths" -> "perhaps")).contains("globPaths"))
    val key = "spark.datasource.zrecord.globPaths"
    spark.conf.set(key, "false")
    try {
      assert(failure(read(s"$base/a*")).contains(s"$base/a*"))
      assert(failure(spark.sql(s"select * from zrecord.`$base/a*`")).contains(s"$base/a*"))
      assert(names(read(s"$base/a*", "globPaths" -> "true")) == Seq("a1", "a2", "odd"))
      writeTo(s"$base/a1", "more")
    } finally spark.conf.unset(key)
    assert(names(s"$base/a1") == Seq("a1", "more"))
  }

  test("SQL takes patterns, and refuses globPaths=false that comes too late") {
    val base = datasets("a1", "a2", "b")
    assert(names(spark.sql(s"select *, _index from zrecord.`$base/a*`")) == Seq("a1", "a2"))
    assert(
      spark.sql(s"select name from zrecord.`$base/a*` where _index = 1").collect().toSeq ==
        Seq(Row("a2"))
    )
    if (spark.version >= "4") {
      val statement = s"select * from zrecord.`$base/a*` with (globPaths = false)"
      assert(failure(spark.sql(statement).collect()).contains("globPaths"))
    }
  }

  test("options of a read apply to all that match") {
    val base = datasets("a1", "a2")
    writeTo(s"$base/a1", "more")
    writeTo(s"$base/a2", "more")
    assert(names(read(s"$base/a*", "versionAsOf" -> "0")) == Seq("a1", "a2"))
    assert(names(read(s"$base/a*", "indices" -> "1,2")) == Seq("more", "a2"))
    assert(failure(read(s"$base/a*", "view" -> "shards")).contains("2 datasets"))
    assert(read(s"$base/*1", "view" -> "shards").count() == 2)
  }

  test("a write takes its path as it is") {
    val base = datasets("a1", "a2")
    for (name <- Seq("a*", "{a1,a2}", "a[12]", "a\\?")) {
      val path = s"$base/$name"
      writeTo(path, "new", "errorifexists")
      writeTo(path, "more")
      assert(names(path) == Seq("new", "more"))
      assert(failure(writeTo(path, "new", "errorifexists")).contains("exists"))
      writeTo(path, "over", "overwrite")
      spark.sql(s"insert into zrecord.`$path` values ('sql')")
      assert(names(path) == Seq("over", "sql"))
      assert(files(base).exists(new Path(s"$base/$name/manifest/latest")))
      assert(names(s"$base/a1") == Seq("a1") && names(s"$base/a2") == Seq("a2"))
    }
  }

  test("what matches a pattern cannot be written") {
    val base = datasets("a1", "a2")
    assert(failure(spark.sql(s"insert into zrecord.`$base/a*` values ('x')")).nonEmpty)
    assert(failure(spark.sql(s"insert overwrite zrecord.`$base/a*` values ('x')")).nonEmpty)
    assert(names(s"$base/a?") == Seq("a1", "a2"))
  }

  test("spaces, percent signs and letters of every script are themselves") {
    val odd = Seq("1 %20 x", "2 ä 数据 😀", "3+x", "4%2Fx", "5#x;y&z='")
    val base = freshPath() + "/for 100% é"
    odd.foreach(name => write(spark.range(1).toDF(), s"$base/$name/train", "append"))
    odd.foreach(name => assert(read(s"$base/$name/train").count() == 1))
    assert(read(s"$base/*/train").count() == 5)
    assert(read(s"$base/{1 %20 x,2 ä 数据 😀}/t*").count() == 2)
    assert(read(s"$base/1 %2*/train").count() == 1)
    assert(spark.sql(s"select * from zrecord.`$base/*%*/train`").count() == 2)
  }
}
