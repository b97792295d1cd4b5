package io.zrecord.benchmarks;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.read.FieldReader;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;

/** Measures scans of an int that is beside binaries of 64 KiB, 10 GiB of them. */
final class LabelCase {
  private static final int BINARY_BYTES = 64 << 10;
  private static final long TOTAL_BYTES = 10L << 30;
  private static final int SCAN_BYTES = 1 << 20;

  private final SparkFormats formats;
  private final long count;

  LabelCase(SparkFormats formats) {
    this.formats = formats;
    this.count = Effort.of(TOTAL_BYTES) / BINARY_BYTES;
  }

  void run() {
    formats
        .spark()
        .udf()
        .register(
            "noise", (Long id) -> SparkBenchmark.noise(id, BINARY_BYTES), DataTypes.BinaryType);
    Dataset<Row> source = formats
        .spark()
        .range(0, count, 1, 8)
        .selectExpr("cast(xxhash64(id) as int) label", "noise(id) as bin");
    formats.save(source, "zrecord", "zrecord", Map.of("durability", "none"));
    Dataset<Row> stored = formats.load("zrecord");
    formats.save(stored, "parquet", "parquet", Map.of());
    formats.save(
        stored, "parquet", SparkFormats.PARQUET_UNCOMPRESSED, Map.of("compression", "none"));
    Contest scan = new Contest("sum(label) beside " + count + " binaries of 64 KiB");
    formats.addZRecord(scan, "sum(label)");
    formats.addParquet(scan, "sum(label)");
    Figure.atLeast("Sum beside the best Parquet", Figure.ratio(scan.run(), "parquet"), 3);
    Figure.atMost("Ranges of chunks that a scan of the int reads a shard", rangesPerShard(), 2);
    formats.delete();
  }

  private double rangesPerShard() {
    CountingStorage storage = new CountingStorage(LocalStorage.at(formats.path("zrecord")));
    TableSnapshot table = RecordTable.at(storage).latest();
    try (RecordDataset dataset = RecordDataset.open(table, ReadOptions.defaults())) {
      FieldReader labels = dataset.reader("label");
      byte[] target = new byte[SCAN_BYTES];
      for (long next = 0; next < dataset.length(); ) {
        int most = (int) Math.min(SCAN_BYTES / Integer.BYTES, dataset.length() - next);
        next += labels.selectRange(next, most, target.length);
        labels.copyAll(target, 0);
      }
    }
    return (double) storage.rangesOf(".zr") / table.shards().size();
  }
}
