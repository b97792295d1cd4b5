package io.zrecord.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.types.DataTypes;

/** The contestants of benchmarks in SQL, in one session of {@code local[2]}. */
final class SqlPeers implements AutoCloseable {
  /** How a contestant names a table, and creates the table. */
  record Format(String name, String catalog, String provider, String properties) {
    String table(String table) {
      return catalog + "." + table;
    }
  }

  private final SparkSession spark;
  private final List<Format> formats;

  /**
   * Begins a session.
   *
   * @param work directory of all tables
   */
  SqlPeers(Path work, List<Format> formats) {
    this.formats = List.copyOf(formats);
    this.spark = SparkSession.builder()
        .master("local[2]")
        .appName("zrecord benchmark")
        .config("spark.ui.enabled", false)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", work.resolve("warehouse").toString())
        .config("spark.sql.catalogImplementation", "in-memory")
        .config(
            "spark.sql.extensions",
            "io.zrecord.spark.ZRecordSessionExtensions,"
                + "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,"
                + "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.lake", "io.zrecord.spark.ZRecordCatalog")
        .config("spark.sql.catalog.lake.warehouse", work.resolve("zrecord").toString())
        .config("spark.sql.catalog.ice", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.ice.type", "hadoop")
        .config("spark.sql.catalog.ice.warehouse", work.resolve("iceberg").toString())
        .config(
            "spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.databricks.delta.snapshotPartitions", "2")
        .config("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        .getOrCreate();
    this.spark.sparkContext().setLogLevel("ERROR");
    System.out.printf("%nSpark %s%n", spark.version());
    spark.udf().register(
        "noise", (UDF2<Long, Integer, byte[]>) SqlPeers::noise, DataTypes.BinaryType);
    spark.sql("create database cow");
    spark.sql("create database dv");
  }

  private static byte[] noise(Long seed, Integer bytes) {
    byte[] noise = new byte[bytes];
    new Random(seed).nextBytes(noise);
    return noise;
  }

  SparkSession spark() {
    return spark;
  }

  List<Format> formats() {
    return formats;
  }

  /** Creates a table of all contestants with the same records. */
  void create(String table, String columns, String values, long count) {
    for (Format format : formats) {
      String name = format.table(table);
      if (format.catalog().startsWith("ice")) {
        spark.sql("create namespace if not exists " + format.catalog());
      }
      spark.sql("create table " + name + " (" + columns + ") using " + format.provider() + " "
          + format.properties());
      spark.sql("insert into " + name + " select " + values + " from range(0, " + count
          + ", 1, 8)");
    }
  }

  /** Drops a table of all contestants. */
  void drop(String table) {
    for (Format format : formats) {
      spark.sql("drop table " + format.table(table) + (format.provider().equals("parquet") ? "" : " purge"));
    }
  }

  /** Requires that all contestants have the same records in the end. */
  void requireEqual(String table, String aggregates) {
    List<Row> answers = new ArrayList<>();
    for (Format format : formats) {
      answers.add(spark.sql("select " + aggregates + " from " + format.table(table)).head());
    }
    if (answers.stream().distinct().count() != 1) {
      throw new IllegalStateException("The contestants do not agree on " + table + ": " + answers);
    }
    System.out.println("All contestants agree: " + answers.get(0));
  }

  @Override
  public void close() {
    spark.stop();
  }
}
