package io.zrecord.benchmarks;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;

/** Measures 50 million strings of 10 to 100 random letters, not compressed. */
final class StringsCase {
  private static final int SHORTEST = 10;
  private static final int LONGEST = 100;

  private final SparkFormats formats;
  private final long count;

  StringsCase(SparkFormats formats) {
    this.formats = formats;
    this.count = Effort.of(50_000_000L);
  }

  void run() {
    formats.spark().udf().register("letters", (Long id) -> letters(id), DataTypes.StringType);
    Dataset<Row> strings =
        formats.store(formats.spark().range(0, count, 1, 8).selectExpr("letters(id) as s"));
    long rawBytes = strings.selectExpr("sum(octet_length(s))").first().getLong(0);
    SparkFormats.Written written = formats.writes("strings", strings, rawBytes);
    Map<String, Double> scan =
        formats.scans(count / 1_000_000.0 + " M strings: sum of lengths", "sum(octet_length(s))");
    Figure.atMost("Size / raw", written.sizeOverRaw(), 1.10);
    Figure.atLeast("Scan beside the best Parquet", Figure.ratio(scan, "parquet"), 2.5);
    Figure.atLeast("Write beside the best Parquet", Figure.ratio(written.seconds(), "parquet"), 2);
    formats.delete();
  }

  /** Returns the same letters for the same id. */
  private static String letters(long id) {
    SplittableRandom random = new SplittableRandom(id);
    byte[] letters = new byte[random.nextInt(SHORTEST, LONGEST + 1)];
    for (int i = 0; i < letters.length; i++) {
      letters[i] = (byte) random.nextInt('a', 'z' + 1);
    }
    return new String(letters, StandardCharsets.US_ASCII);
  }
}
