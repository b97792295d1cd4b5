package io.zrecord.spark

import java.nio.file.Paths
import java.sql.Timestamp
import java.util.{Optional, OptionalLong}

import scala.collection.JavaConverters._

import io.zrecord.inspect._
import io.zrecord.schema.{ElementType, FieldSpec, RecordSchema}
import io.zrecord.spark.path.SparkStorages
import io.zrecord.store.{RecordStore, StoreOptions}
import io.zrecord.table.{IndexMap, RecordTable, TableChange, TableSnapshot}
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.types.StructType

/** Metadata tables: each of them, in each place where a table can be, at each state of a table, is
  * what the engine's own inspection says.
  */
class MetadataTablesSuite extends SparkSuite {
  private lazy val warehouse = freshPath()

  override protected def configuration: Map[String, String] = Map(
    "spark.sql.catalog.lake" -> classOf[ZRecordCatalog].getName,
    "spark.sql.catalog.lake.warehouse" -> warehouse,
    "spark.sql.catalog.spark_catalog" -> classOf[ZRecordSessionCatalog].getName
  )

  private val Views = Seq(
    "versions",
    "tags",
    "fields",
    "partitions",
    "shards",
    "chunks",
    "files",
    "shard_usage",
    "field_usage"
  )

  private def sql(text: String): Seq[Row] = spark.sql(text).collect().toSeq

  /** A table under its name in SQL, and its path. */
  private case class Place(name: String, path: String, suffix: String = "")

  private def named(): Place = {
    val table = freshTable()
    Place(s"lake.n.$table", s"$warehouse/n/$table")
  }

  private def atRoot(): Place = {
    val table = freshTable()
    Place(s"lake.$table", s"$warehouse/$table")
  }

  private def inSession(): Place = {
    val path = freshPath()
    Place(s"default.${freshTable()}", path, s"location '$path'")
  }

  private def atPath(): Place = {
    val path = freshPath()
    Place(s"zrecord.`$path`", path)
  }

  private def latest(place: Place): TableSnapshot = tableAt(place.path).latest()

  // What the engine says.

  private def long(number: OptionalLong): Any =
    if (number.isPresent) number.getAsLong else null

  private def orNull[A](value: Optional[A]): Any = value.map[Any](identity).orElse(null)

  private def longs(map: java.util.Map[String, java.lang.Long]): Map[String, Long] =
    map.asScala.map { case (key, value) => key -> value.longValue }.toMap

  private def space(space: SpaceUsage): Seq[Any] = Seq(
    space.fileBytes,
    space.liveBytes,
    space.deadBytes,
    space.paddingBytes,
    space.byteUtilization,
    space.writtenRecords,
    space.liveRecords,
    space.recordUtilization
  )

  private def order(order: Fragmentation): Seq[Any] = Seq(
    order.pairCount,
    order.scatteredCount,
    order.meanJumpBytes,
    order.spannedBytes,
    order.scanCost
  )

  private def names(schema: RecordSchema, ids: Iterable[Integer]): Seq[String] =
    ids.toSeq.map(_.intValue).flatMap { id =>
      val field: Optional[FieldSpec] = schema.find(id)
      if (field.isPresent) Seq(field.get.name) else Nil
    }

  private def byName(
      schema: RecordSchema,
      map: java.util.Map[Integer, java.lang.Long]
  ): Map[String, Long] =
    map.asScala.toSeq.flatMap { case (id, value) =>
      names(schema, Seq(id)).map(_ -> value.longValue)
    }.toMap

  private def versionsOf(at: TableSnapshot): Seq[Row] = {
    val history = TableHistory.of(at.storage)
    history.versions.asScala.toSeq.map(version => history.find(version).get).map { v =>
      Row(
        v.version,
        Timestamp.from(v.timestamp),
        v.operation,
        orNull(v.applicationId),
        orNull(v.user),
        long(v.addedRecords),
        long(v.addedBytes),
        long(v.removedRecords),
        long(v.removedBytes),
        v.recordCount,
        v.shardCount,
        v.tags.asScala.toSeq,
        if (v.version == 0) null else v.version - 1,
        tableAt(at.storage.location).version(v.version).commitId.toString,
        longs(v.transactions),
        v.properties.asScala.toMap
      )
    }
  }

  private def fieldsOf(at: TableSnapshot): Seq[Row] = {
    val columns = read(at.storage.location, "versionAsOf" -> at.version.toString).schema
    at.schema.fields.asScala.toSeq.zipWithIndex.map { case (field, position) =>
      Row(
        position.toLong,
        field.id.toLong,
        field.name,
        field.`type`.toString,
        if (field.shape.isScalar) null
        else field.shape.dimensions.asScala.toSeq.map(_.longValue),
        columns(field.name).dataType.catalogString,
        field.compression.toString,
        field.rules.isNullable,
        field.rules.defaultSql,
        if (field.rules.comment.isEmpty) null else field.rules.comment,
        null
      )
    }
  }

  /** Returns the partition of a shard as Spark has it: the field `p` is an int. */
  private def partition(values: java.util.List[String]): Row =
    Row.fromSeq(values.asScala.toSeq.map(text => if (text == null) null else text.toInt))

  private def expected(view: String, at: TableSnapshot): Seq[Row] = {
    val shards = at.shards.asScala.toSeq
    val isPartitioned = !at.partitionFields.isEmpty
    lazy val inspections = shards.indices.map(i =>
      ShardInspection.of(at.storage, at.schema, shards(i), at.firstIndex(i))
    )
    view match {
      case "versions" => versionsOf(at)
      case "tags" =>
        tableAt(at.storage.location).tags.asScala.toSeq
          .map(tag => Row(tag.name, tag.version, Timestamp.from(tag.created)))
      case "fields" => fieldsOf(at)
      case "shards" =>
        shards.zipWithIndex.map { case (shard, ordinal) =>
          val patch = shard.patch
          Row.fromSeq(
            Seq(
              ordinal.toLong,
              shard.id.toString,
              at.firstIndex(ordinal),
              shard.length,
              shard.slots - shard.length,
              shard.chunks.size.toLong,
              shard.chunkBytes,
              shard.tables.asScala.map(_.bytes).sum + (if (patch == null) 0 else patch.bytes),
              if (patch == null) null else shard.fileOf(patch),
              names(at.schema, shard.tables.asScala.flatMap(_.fieldIds.asScala).toSeq.sorted),
              byName(at.schema, shard.valueBytes)
            ) ++ (if (isPartitioned) Seq(partition(shard.partition)) else Nil)
          )
        }
      case "partitions" =>
        shards.groupBy(_.partition.asScala.toSeq).toSeq.map { case (values, those) =>
          Row.fromSeq(
            (if (isPartitioned) Seq(partition(values.asJava)) else Nil) ++ Seq(
              those.map(_.length).sum,
              those.map(shard => shard.slots - shard.length).sum,
              those.size.toLong,
              those.map(_.chunkBytes).sum
            )
          )
        }
      case "chunks" =>
        inspections.flatMap(_.usage.chunks.asScala).map { chunk =>
          Row.fromSeq(
            Seq(chunk.shard.toString, chunk.chunkId, chunk.file) ++ space(chunk.space) ++
              Seq(byName(at.schema, chunk.liveBytes))
          )
        }
      case "files" =>
        val tables = shards.flatMap(shard => shard.tables.asScala.map(t => shard.fileOf(t) -> t))
        val ofMap = at.indexMap.map[Seq[DatasetFile]](map =>
          ShardInspection.of(at.storage, IndexMap.SCHEMA, map.shard, 0).files.asScala.toSeq
        )
        (TableHistory.of(at.storage).files(at.version).asScala ++
          ofMap.orElse(Nil) ++ inspections.flatMap(_.files.asScala)).toSeq.map { file =>
          Row(
            file.name,
            file.kind.name.toLowerCase,
            orNull(file.shard.map[String](_.toString)),
            long(file.lengthBytes),
            at.storage.pathOf(file.name),
            tables.toMap
              .get(file.name)
              .map(t => names(at.schema, t.fieldIds.asScala))
              .orNull
          )
        }
      case "shard_usage" =>
        inspections.map(_.usage).map { shard =>
          Row.fromSeq(
            Seq(shard.shard.toString, shard.firstIndex, shard.recordCount) ++
              Seq(shard.chunks.size.toLong) ++ space(shard.space) ++ order(shard.fragmentation)
          )
        }
      case "field_usage" =>
        inspections
          .map(_.usage)
          .flatMap(shard =>
            shard.fields.asScala.map { field =>
              Row.fromSeq(
                Seq(
                  shard.shard.toString,
                  shard.firstIndex,
                  field.field.id.toLong,
                  field.field.name,
                  field.field.`type`.toString +
                    (if (field.field.shape.isScalar) "" else field.field.shape.toString),
                  field.field.compression.toString,
                  field.recordCount,
                  field.absentCount,
                  field.liveBytes,
                  field.paddingBytes
                ) ++ order(field.fragmentation)
              )
            }
          )
    }
  }

  private def sorted(rows: Seq[Row]): Seq[Row] = rows.sortBy(_.toSeq.take(3).mkString(" "))

  private def assertIs(view: String, data: => DataFrame, at: TableSnapshot, clue: String): Unit =
    withClue(s"$view of $clue: ") {
      assert(sorted(data.collect().toSeq) == sorted(expected(view, at)))
    }

  /** Compares every metadata table with the engine, by its name and by the option. */
  private def compare(place: Place, state: String): Unit = {
    val now = latest(place)
    Views.foreach { view =>
      assertIs(view, spark.sql(s"select * from ${place.name}.$view"), now, s"$state in SQL")
      assertIs(view, read(place.path, "view" -> view), now, s"$state by the option")
    }
  }

  private def timeTravelled(place: Place, version: Long, words: String, option: String): Unit = {
    val before = tableAt(place.path).version(version)
    Views.filterNot(Set("versions", "tags")).foreach { view =>
      assertIs(view, spark.sql(s"select * from ${place.name}.$view $words"), before, words)
      val Array(key, value) = option.split("=")
      assertIs(view, read(place.path, "view" -> view, key -> value), before, option)
      assertIs(view, spark.read.option(key, value).table(s"${place.name}.$view"), before, option)
    }
    Seq("versions", "tags").foreach { view =>
      val message = failure(sql(s"select * from ${place.name}.$view $words"))
      assert(message.contains("shows all of them"), message)
    }
  }

  private def story(place: Place, clause: String): Unit = {
    val columns = "id bigint comment 'a number', text string, p int, extra array<float>"
    sql(s"create table ${place.name} ($columns) using zrecord $clause ${place.suffix}")
    val exists = tableAt(place.path).exists()
    if (exists) compare(place, "an empty table")
    val there = s"zrecord.`${place.path}`"
    val rows = "id, concat('t', id) text, cast(id % 3 as int) p, array(1f, cast(id as float)) extra"
    spark.sql(s"select $rows from range(0, 30, 1, 2)").writeTo(place.name).append()
    compare(place, "a written table")
    val written = latest(place).version
    sql(s"delete from $there where id in (1, 4, 20)")
    sql(s"update $there set text = 'changed' where id = 7")
    compare(place, "a patched table")
    assert(spark.sql(s"select sum(deleted) from ${place.name}.shards").head().getLong(0) == 3)
    assert(sql(s"select * from ${place.name}.shards where patch is not null").nonEmpty)
    tableAt(place.path).tag(written, "first")
    tableAt(place.path).dropField("extra")
    compare(place, "a table without a column that it had")
    timeTravelled(place, written, s"version as of $written", s"versionAsOf=$written")
    timeTravelled(place, written, "version as of 'first'", "tag=first")
    val changed = tableAt(place.path).version(written + 1).timestamp
    val time = Timestamp.from(changed.minusMillis(1)).toLocalDateTime.toString.replace('T', ' ')
    timeTravelled(place, written, s"timestamp as of '$time'", s"timestampAsOf=$time")
    inSessionWith("versionAsOf", written.toString) {
      val shards = s"${place.name}.shards"
      assertIs("shards", spark.table(shards), tableAt(place.path).version(written), "a default")
      assert(failure(spark.table(s"${place.name}.versions").collect()).contains("defaults of"))
    }
  }

  private def inSessionWith(option: String, value: String)(body: => Unit): Unit = {
    spark.conf.set(s"spark.datasource.zrecord.$option", value)
    try body
    finally spark.conf.unset(s"spark.datasource.zrecord.$option")
  }

  for {
    (where, make) <- Seq[(String, () => Place)](
      "in a catalog" -> (() => named()),
      "in the root of a catalog" -> (() => atRoot()),
      "in the session's catalog" -> (() => inSession()),
      "at a path" -> (() => atPath())
    )
    clause <- Seq("", "partitioned by (p)")
  } test(s"a table $where $clause has the metadata tables that the engine tells of") {
    if (where.contains("a catalog")) sql("create namespace if not exists lake.n")
    story(make(), clause)
  }

  test("columns have types, nullability and comments") {
    val place = atRoot()
    sql(
      s"create table ${place.name} (id bigint not null, p date default date'2026-01-02', " +
        "q decimal(5,1) not null) partitioned by (p, q)"
    )
    val name = place.name
    val day = "date'2026-01-02'"
    sql(s"insert into $name values (1, $day, 2.5), (2, $day, 2.5)")
    sql(s"insert into $name values (3, null, 1.0)")
    val versions = spark.table(s"$name.versions").schema
    assert(versions("timestamp").dataType.sql == "TIMESTAMP" && !versions("timestamp").nullable)
    assert(versions("tags").dataType.sql == "ARRAY<STRING>")
    assert(versions("properties").dataType.sql == "MAP<STRING, STRING>")
    assert(versions("parent").nullable)
    for (view <- Views; column <- spark.table(s"$name.$view").schema)
      assert(column.getComment().exists(_.nonEmpty), s"$view.${column.name}")
    val partition = spark.table(s"$name.partitions").schema("partition")
    val members = partition.dataType.asInstanceOf[StructType].fields.toSeq
    assert(members.map(m => s"${m.name} ${m.dataType.sql}") == Seq("p DATE", "q DECIMAL(5,1)"))
    assert(members.map(_.nullable) == Seq(true, false) && !partition.nullable)
    assert(
      sql(s"select partition.p, partition.q, records, shards from $name.partitions") == Seq(
        Row(null, new java.math.BigDecimal("1.0"), 1, 1),
        Row(java.sql.Date.valueOf("2026-01-02"), new java.math.BigDecimal("2.5"), 2, 1)
      )
    )
    assert(sql(s"select records from $name.shards where partition.p is null") == Seq(Row(1)))
    val described = sql(s"describe table $name.partitions").map(_.toSeq.take(3))
    assert(described.exists(row => row(0) == "bytes" && row(1) == "bigint" && row(2) != null))
    assert(sql(s"describe table extended $name.versions").mkString.contains("read-only"))
    val fields = sql(s"select name, nullable, `default`, column_type from $name.fields")
    assert(fields.map(_.getString(0)) == Seq("id", "p", "q"))
    assert(fields.map(_.getBoolean(1)) == Seq(false, true, false))
    assert(fields(1).getString(2).contains("2026-01-02"))
    assert(fields.map(_.getString(3)) == Seq("bigint", "date", "decimal(5,1)"))
    assert(spark.catalog.tableExists(s"$name.versions") && !spark.catalog.tableExists(s"$name.x"))
  }

  test("transactions, parents and properties of versions are told") {
    val place = atRoot()
    sql(s"create table ${place.name} (id bigint)")
    spark
      .range(3)
      .write
      .format("zrecord")
      .mode("append")
      .option("txnAppId", "job")
      .option("txnVersion", "7")
      .save(place.path)
    val rows = sql(
      s"select parent, transactions, properties['user'], user from ${place.name}.versions " +
        "order by version"
    )
    assert(rows.map(_.get(0)) == Seq(null, 0L))
    assert(rows.map(_.getMap[String, Long](1).toMap) == Seq(Map.empty, Map("job" -> 7L)))
    assert(rows(1).getString(2) == spark.sparkContext.sparkUser && rows(1).get(2) == rows(1).get(3))
  }

  test("members of a partition are those that are asked for") {
    val place = atRoot()
    sql(s"create table ${place.name} (a int, b int, c string) partitioned by (a, c)")
    sql(s"insert into ${place.name} values (1, 2, 'x')")
    for (view <- Seq("shards", "partitions")) withClue(view) {
      assert(sql(s"select partition.c from ${place.name}.$view") == Seq(Row("x")))
      assert(sql(s"select partition.a, 5 from ${place.name}.$view") == Seq(Row(1, 5)))
    }
  }

  test("metadata tables are joined, filtered and counted as other tables are") {
    val place = named()
    sql("create namespace if not exists lake.n")
    sql(s"create table ${place.name} as select id, id % 4 p from range(0, 100, 1, 4)")
    val t = place.name
    val joined = sql(
      s"select s.ordinal, sum(f.bytes) from $t.shards s join $t.files f on s.shard = f.shard " +
        "where f.kind = 'chunk' group by 1 order by 1"
    )
    assert(joined == sql(s"select ordinal, bytes from $t.shards order by 1"))
    assert(sql(s"select count(*) from $t.shards") == Seq(Row(4)))
    assert(sql(s"select sum(records) from $t.partitions") == Seq(Row(100)))
    sql(s"create or replace temporary view kept as select * from $t.versions")
    assert(sql("select count(*) from kept") == Seq(Row(1)))
    // Each SELECT of one statement reads its own metadata table.
    assert(
      sql(s"select (select count(*) from $t.versions), (select count(*) from $t.shards)") ==
        Seq(Row(1, 4))
    )
  }

  test("nothing is listed, and what is not there is not found") {
    sql("create namespace if not exists lake.n")
    val place = named()
    sql(s"create table ${place.name} (id bigint)")
    assert(!sql("show tables in lake.n").map(_.getString(1)).exists(Views.contains))
    for (name <- Seq(s"lake.n.${freshTable()}.versions", s"${place.name}.version", "lake.n.tags"))
      assert(failure(sql(s"select * from $name")).contains("TABLE_OR_VIEW_NOT_FOUND"), name)
    assert(failure(sql("select * from zrecord.`/data/trian`.versions")).contains("/data/trian"))
    val other = freshTable()
    sql(s"create table default.$other using parquet as select 1 x")
    val message = failure(sql(s"select * from default.$other.versions"))
    assert(message.contains("single-part") || message.contains("NOT_FOUND"), message)
    sql(s"drop table default.$other")
  }

  test("a table without records has a version and no shards") {
    val place = inSession()
    sql(s"create table ${place.name} (id bigint) using zrecord ${place.suffix}")
    assert(sql(s"select version from ${place.name}.versions") == Seq(Row(0)))
    assert(sql(s"select * from ${place.name}.shards").isEmpty)
    sql(s"insert into ${place.name} values (1)")
    assert(sql(s"select version from ${place.name}.versions order by 1") == Seq(Row(0), Row(1)))
  }

  test("a name that a table and a metadata table have is refused, until one of them is gone") {
    sql("create namespace if not exists lake.n")
    val place = named()
    sql(s"create table ${place.name} (id bigint)")
    def tableAtName(): Unit = RecordTable
      .at(SparkStorages.storageFor(s"${place.path}/tags"))
      .commit(
        TableChange
          .of(
            TableChange.Kind.CREATE,
            RecordSchema.builder().field("x", ElementType.I64).build()
          )
          .build()
      )
    tableAtName()
    for (
      statement <- Seq(
        s"select * from ${place.name}.tags",
        s"select * from ${place.name}.tags version as of 0",
        s"insert into ${place.name}.tags values (1)"
      )
    ) assert(failure(sql(statement)).contains("Cannot tell what"), statement)
    assert(sql(s"select * from ${place.name}.versions").size == 1)
    assert(read(place.path, "view" -> "tags").count() == 0)
    assert(sql(s"select * from lake.`${place.path}/tags`").isEmpty)
    sql(s"drop table ${place.name}.tags")
    assert(sql(s"select * from ${place.name}.tags").isEmpty)
    assert(spark.table(s"${place.name}.tags").columns.toSeq == Seq("name", "version", "created"))
    // Where there is no table above, the name is that of a table, which has metadata tables itself.
    sql("create namespace if not exists lake.plain")
    sql("create or replace table lake.plain.versions as select id from range(5)")
    assert(sql("select count(*) from lake.plain.versions") == Seq(Row(5)))
    sql("insert into lake.plain.versions values (6)")
    assert(
      sql("select records from lake.plain.versions.versions order by version") ==
        Seq(Row(5), Row(6))
    )
  }

  private def statements(table: String, view: String): Seq[String] = Seq(
    s"insert into $table.$view select * from $table.$view",
    s"insert overwrite $table.$view select * from $table.$view",
    s"delete from $table.$view where true",
    s"delete from $table.$view",
    s"update $table.$view set version = 1",
    s"merge into $table.$view t using (select 1 as k) s on t.version = s.k when matched then delete",
    s"truncate table $table.$view",
    s"alter table $table.$view add columns (x int)",
    s"alter table $table.$view drop column version",
    s"alter table $table.$view rename column version to v",
    s"alter table $table.$view set tblproperties ('a' = 'b')",
    s"alter table $table.$view rename to other",
    s"drop table $table.$view",
    s"drop table $table.$view purge",
    s"create table $table.$view (x int) using zrecord",
    s"create table $table.$view using zrecord as select 1 x",
    s"replace table $table.$view using zrecord as select 1 x",
    s"create or replace table $table.$view using zrecord as select 1 x"
  )

  for (
    (where, make) <- Seq[(String, () => Place)](
      "in a catalog" -> (() => atRoot()),
      "in the session's catalog" -> (() => inSession()),
      "at a path" -> (() => atPath())
    )
  )
    test(s"nothing changes a metadata table $where") {
      val place = make()
      sql(s"create table ${place.name} (id bigint) using zrecord ${place.suffix}")
      sql(s"insert into ${place.name} values (1)")
      val before = latest(place).version
      val data = spark.table(s"${place.name}.versions")
      val frames = Seq[() => Unit](
        () => data.writeTo(s"${place.name}.versions").append(),
        () => data.writeTo(s"${place.name}.versions").overwritePartitions(),
        () => data.writeTo(s"${place.name}.versions").using("zrecord").createOrReplace(),
        () => data.write.insertInto(s"${place.name}.versions"),
        () => data.write.format("zrecord").mode("append").saveAsTable(s"${place.name}.versions"),
        () => data.write.format("zrecord").mode("overwrite").saveAsTable(s"${place.name}.versions")
      )
      val refused = statements(place.name, "versions").map(text => text -> failure(sql(text))) ++
        frames.zipWithIndex.map { case (write, i) => s"frame $i" -> failure(write()) }
      refused.foreach { case (text, message) =>
        val words = message.toLowerCase
        val isOfSpark = words.contains("requires_single_part_namespace") &&
          text.matches("(drop|create|replace|frame) .*|.* rename to .*")
        assert(words.contains("versions") || isOfSpark, s"$text: $message")
        assert(
          words.contains("metadata table") || words.contains("does not support") ||
            words.contains("already exists") || words.contains("already_exists") ||
            words.contains("unsupported") ||
            // Spark itself refuses these in the session's catalog, whose names have two parts.
            words.contains("couldn't find a catalog to handle the identifier default.") ||
            isOfSpark,
          s"$text: $message"
        )
      }
      assert(latest(place).version == before)
      assert(sql(s"select id from ${place.name}") == Seq(Row(1)))
      assert(sql(s"select count(*) from ${place.name}.versions") == Seq(Row(before + 1)))
    }

  testLocally("a store that is written online has those that need no version") {
    val path = freshLocalPath()
    val schema = RecordSchema.builder().field("text", ElementType.UTF8).build()
    val store = RecordStore.create(Paths.get(path), schema, StoreOptions.defaults().withWriters(1))
    try {
      Seq(5, 16, 1).foreach(n => store.append(store.newValues().set("text", "x" * n)))
      store.commit()
      val name = s"zrecord.`$path`"
      assert(sql(s"select records from $name.shards") == Seq(Row(3)))
      assert(sql(s"select records, shards from $name.partitions") == Seq(Row(3, 1)))
      assert(sql(s"select name, type from $name.fields") == Seq(Row("text", "utf8")))
      assert(sql(s"select live_bytes from $name.chunks") == Seq(Row(22)))
      assert(sql(s"select absent from $name.field_usage") == Seq(Row(0)))
      assert(sql(s"select live_bytes from $name.shard_usage") == Seq(Row(22)))
      for (view <- Seq("versions", "files", "tags")) {
        val message = failure(sql(s"select * from $name.$view"))
        assert(message.contains(s"the metadata table $view") && message.contains("no versions"))
      }
      assert(failure(sql(s"select * from $name.shards version as of 0")).contains("no versions"))
    } finally store.close()
  }

  test("options of a statement are obeyed or refused") {
    val place = atRoot()
    sql(s"create table ${place.name} as select id from range(0, 40, 1, 4)")
    sql(s"insert into ${place.name} values (1)")
    def shards(options: (String, String)*): DataFrame =
      spark.read.options(options.toMap).table(s"${place.name}.shards")
    assert(shards("numPartitions" -> "2").rdd.getNumPartitions == 2)
    assert(shards("tag" -> "none").columns.nonEmpty)
    assert(failure(shards("tag" -> "none").count()).contains("none"))
    for (option <- Seq("sampler" -> "shuffle", "indices" -> "1", "batchRows" -> "7"))
      assert(failure(shards(option).count()).contains("does not go with a metadata table"))
    assert(failure(shards("vew" -> "1").count()).contains("unknown option vew"))
    assert(shards("view" -> "shards").count() == 5)
    assert(failure(shards("view" -> "chunks").count()).contains("names the metadata table shards"))
    assert(failure(shards("path" -> "/elsewhere").count()).contains("/elsewhere"))
    inSessionWith("batchRows", "100")(assert(shards().count() == 5))
  }

  test("what is cached of a metadata table is not taken for what a newer version has") {
    val place = atRoot()
    sql(s"create table ${place.name} as select id from range(0, 40, 1, 4)")
    val name = s"${place.name}.shards"
    val held = spark.table(name)
    sql(s"cache table $name")
    assert(sql(s"select count(*) from $name") == Seq(Row(4)))
    sql(s"insert into ${place.name} values (1)")
    assert(sql(s"select count(*) from $name") == Seq(Row(5)))
    assert(held.count() == 4)
    sql(s"uncache table if exists $name")
    assert(sql(s"select count(*) from $name") == Seq(Row(5)))
  }
}
