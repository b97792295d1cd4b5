package io.zrecord.report;

import io.zrecord.inspect.SizeHistogram;
import io.zrecord.inspect.SizeHistogram.Bucket;
import java.util.List;
import java.util.Locale;

/** Writes a histogram of sizes as a table with bars. Stateless. */
final class HistogramTable {
  private static final String BAR_SCALE = "0 0 100 1";

  private HistogramTable() {}

  /**
   * Writes the table.
   *
   * @param counted name of the counted things, such as {@code values}
   */
  static void write(Html page, SizeHistogram sizes, String counted) {
    List<Bucket> buckets = sizes.buckets();
    if (buckets.isEmpty()) {
      page.leaf("p", "no " + counted, "class", "note");
      return;
    }
    long most = buckets.stream().mapToLong(Bucket::count).max().orElse(1);
    page.start("table").start("thead").start("tr");
    page.leaf("th", "size", "scope", "col").leaf("th", counted, "scope", "col", "class", "number");
    page.start("th", "scope", "col").leaf("span", "bar", "class", "hidden").end();
    page.end().end().start("tbody");
    long expected = buckets.get(0).fromBytes();
    for (Bucket bucket : buckets) {
      // Rows for empty sizes between two others, so that the gap is visible.
      for (; expected < bucket.fromBytes(); expected = after(expected)) {
        row(page, new Bucket(expected, after(expected) - 1, 0), most);
      }
      row(page, bucket, most);
      expected = bucket.toBytes() + 1;
    }
    page.end().end();
  }

  private static long after(long fromBytes) {
    return fromBytes == 0 ? 1 : 2 * fromBytes;
  }

  private static void row(Html page, Bucket bucket, long most) {
    page.start("tr").leaf("th", label(bucket), "scope", "row");
    page.leaf("td", Amounts.count(bucket.count()), "class", "number").start("td");
    page.start(
        "svg",
        "class",
        "bar",
        "viewBox",
        BAR_SCALE,
        "preserveAspectRatio",
        "none",
        "aria-hidden",
        "true");
    // Every nonzero count is visible, however small.
    double width = bucket.count() == 0 ? 0 : Math.max(0.5, 100.0 * bucket.count() / most);
    page.leaf("rect", "", "width", String.format(Locale.ROOT, "%.2f", width), "height", "1");
    page.end().end().end();
  }

  static String label(Bucket bucket) {
    if (bucket.fromBytes() == bucket.toBytes()) {
      return Amounts.bytes(bucket.fromBytes());
    }
    return bucket.toBytes() < 1024
        ? bucket.fromBytes() + " to " + bucket.toBytes() + " bytes"
        : Amounts.powerOfTwo(bucket.fromBytes()) + " to "
            + Amounts.powerOfTwo(bucket.toBytes() + 1);
  }
}
