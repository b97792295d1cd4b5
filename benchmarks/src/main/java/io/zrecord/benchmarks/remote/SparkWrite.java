package io.zrecord.benchmarks.remote;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Measures bulk writes by Spark from a local table, with zrecord and Parquet, and uploads in parts
 * of the local table's chunks by as many connections as the write of zrecord had at most.
 * Contestants take turns in one warm process. Arguments: the directory of the local table
 * {@code binaries}, and the number of turns.
 */
public final class SparkWrite {
  private SparkWrite() {}

  public static void main(String[] arguments) throws IOException {
    RemoteSite site = RemoteSite.ofEnvironment();
    Meter meter = new Meter(site, "spark-write");
    List<Path> chunks;
    try (var walk = Files.walk(Path.of(arguments[0]))) {
      chunks = walk.filter(file -> file.toString().endsWith(".zr")).toList();
    }
    Least whole = Least.ofWhole(site.records() * RemoteSite.VALUE_BYTES);
    try (SparkOverS3 spark = new SparkOverS3(site);
        PlainS3 server = new PlainS3(site)) {
      Dataset<Row> source = spark.loadLocal(arguments[0]);
      int connections = 1;
      for (int round = -1; round < Integer.parseInt(arguments[1]); round++) {
        for (String format : List.of("zrecord", "parquet")) {
          String table = "written-" + format + "-" + round;
          Meter.Work write = () -> spark.save(source, format, table);
          if (round >= 0) {
            meter.measure(format + " by Spark", whole, write);
          } else {
            Meter.warmUp(write);
            if (format.equals("zrecord")) {
              connections = Math.max(1, SentRequests.order().atOnce());
            }
          }
          server.delete(table + "/");
        }
        int some = connections;
        Meter.Work plain = () -> server.put(chunks, "written-plain/", some);
        if (round >= 0) {
          meter.measure("plain upload in parts of 64 MiB, " + some + " connections", whole, plain);
        } else {
          Meter.warmUp(plain);
        }
        server.delete("written-plain/");
      }
    }
  }
}
