package io.zrecord.benchmarks;

import io.zrecord.benchmarks.SqlPeers.Format;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;

/**
 * Measures CREATE TABLE AS SELECT and scans of all columns beside Parquet, in one JVM, {@code
 * local[2]}: sales like those of TPC-DS, in 10 columns, and annotations of images, which are arrays
 * of structs with arrays. Compiled and started by benchmarks/run with the case "sql-tables". At 100
 * percent there are 50 M sales and 2 M images. Argument: a work directory.
 */
final class SqlTables {
  private static final List<Format> FORMATS = List.of(
      new Format("zrecord", "lake", "zrecord", ""),
      new Format("parquet uncompressed", "plain", "parquet", parquet("uncompressed")),
      new Format("zrecord zstd", "lake", "zrecord", "tblproperties ('write.compression' = 'zstd')"),
      new Format("parquet zstd", "packed", "parquet", parquet("zstd")));

  private final SqlPeers peers;
  private final SparkSession spark;
  private final Path work;

  private SqlTables(SqlPeers peers, Path work) {
    this.peers = peers;
    this.spark = peers.spark();
    this.work = work;
  }

  private static String parquet(String codec) {
    return "options ('compression' = '" + codec + "')";
  }

  public static void main(String[] args) {
    Path work = Path.of(args[0]).toAbsolutePath();
    try (SqlPeers peers = new SqlPeers(work, FORMATS)) {
      SqlTables tables = new SqlTables(peers, work);
      for (String database : List.of("plain", "packed")) {
        peers.spark().sql("create database " + database);
      }
      peers.spark().sql("create namespace lake.db");
      tables.sales();
      tables.annotations();
    }
  }

  private void sales() {
    spark.sql("select cast(2450816 + pmod(h, 1823) as int) sold_date,"
            + " pmod(shiftright(h, 8), 18000) item,"
            + " case when pmod(h, 23) = 0 then null else pmod(shiftright(h, 16), 100000) end"
            + " customer,"
            + " cast(1 + pmod(shiftright(h, 20), 100) as int) quantity,"
            + " cast(pmod(shiftright(h, 24), 10000) / 100 as decimal(7,2)) wholesale,"
            + " cast(pmod(shiftright(h, 28), 20000) / 100 as decimal(7,2)) list,"
            + " cast(pmod(shiftright(h, 32), 20000) / 100 as double) price,"
            + " element_at(array('Email', 'TV', 'Radio', 'Catalog', 'Event', 'Press'),"
            + " cast(1 + pmod(shiftright(h, 36), 6) as int)) promotion,"
            + " pmod(shiftright(h, 40), 12) = 0 returned, id div 11 ticket"
            + " from (select id, xxhash64(id) h from range(0, " + Effort.of(50_000_000L)
            + ", 1, 8))")
        .write()
        .option("compression", "uncompressed")
        .parquet(work.resolve("sales").toString());
    contest(
        "sales",
        "count(*), sum(sold_date), sum(item), sum(customer), sum(quantity), sum(wholesale),"
            + " sum(list), sum(price), sum(length(promotion)), count_if(returned), sum(ticket)");
  }

  private void annotations() {
    spark.sql("select id image, concat('val/', lpad(string(id), 12, '0'), '.jpg') file,"
            + " transform(sequence(1, cast(1 + pmod(h, 7) as int)), i -> named_struct("
            + "'category', cast(pmod(shiftright(h, i), 80) as int),"
            + " 'bbox', transform(array(0, 1, 2, 3), j -> cast(pmod(shiftright(h, i + j), 6400)"
            + " / 10 as float)), 'polygon', transform(sequence(1, cast(8 + pmod(shiftright(h, i), 24)"
            + " as int)), j -> cast(pmod(shiftright(h, j % 50), 6400) / 10 as float)),"
            + " 'area', cast(pmod(shiftright(h, 13), 100000) as double),"
            + " 'crowd', pmod(shiftright(h, i), 50) = 0))"
            + " annotations from (select id, xxhash64(id) h from range(0, "
            + Effort.of(2_000_000L) + ", 1, 8))")
        .write()
        .option("compression", "uncompressed")
        .parquet(work.resolve("annotations").toString());
    contest(
        "annotations",
        "count(*), sum(image), sum(length(file)), sum(size(annotations)),"
            + " sum(aggregate(annotations, 0D, (a, x) -> a + x.area + x.bbox[2] + x.category +"
            + " size(x.polygon) + x.polygon[0]))");
  }

  private void contest(String table, String sums) {
    String source = "parquet.`" + work.resolve(table) + "`";
    Contest write = new Contest(table + ", CREATE TABLE AS SELECT", 1, 3);
    for (Format format : FORMATS) {
      String name = nameOf(format, table);
      write.add(
          format.name(),
          () -> spark.sql("drop table if exists " + name
              + (format.provider().equals("zrecord") ? " purge" : "")),
          () -> spark.sql("create table " + name + " using " + format.provider() + " "
              + format.properties() + " as select * from " + source));
    }
    Map<String, Double> writes = write.run();
    Contest scan = new Contest(table + ", scan of all columns", 2, 5);
    for (Format format : FORMATS) {
      scan.add(format.name(), () -> scan(format, table, sums));
    }
    Map<String, Double> scans = scan.run();
    List<Object> answers = FORMATS.stream()
        .<Object>map(format -> scan(format, table, sums))
        .distinct()
        .toList();
    if (answers.size() != 1) {
      throw new IllegalStateException("The contestants do not agree on " + table + ": " + answers);
    }
    Figure.atLeast(
        table + ", write beside Parquet uncompressed",
        writes.get("parquet uncompressed") / writes.get("zrecord"),
        1.5);
    Figure.atLeast(
        table + ", scan beside Parquet uncompressed",
        scans.get("parquet uncompressed") / scans.get("zrecord"),
        1.5);
    for (Format format : FORMATS) {
      System.out.printf(
          Locale.ROOT, "%s, %s: %d bytes%n", table, format.name(), bytes(format, table));
    }
    Figure.atMost(
        table + ", size with zstd / Parquet's",
        bytes(FORMATS.get(2), table) / (double) bytes(FORMATS.get(3), table),
        1.1);
  }

  private Object scan(Format format, String table, String sums) {
    return spark.sql("select " + sums + " from " + nameOf(format, table)).head().toString();
  }

  private static String nameOf(Format format, String table) {
    return format.catalog().equals("lake")
        ? "lake.db." + table + (format.name().equals("zrecord") ? "" : "_packed")
        : "spark_catalog." + format.catalog() + "." + table;
  }

  private long bytes(Format format, String table) {
    String directory = format.catalog().equals("lake")
        ? "zrecord/db/" + nameOf(format, table).substring("lake.db.".length())
        : "warehouse/" + format.catalog() + ".db/" + table;
    try (Stream<Path> all = Files.walk(work.resolve(directory))) {
      return all.filter(Files::isRegularFile).mapToLong(path -> path.toFile().length()).sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
