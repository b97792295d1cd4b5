package io.zrecord.cli;

import io.zrecord.cli.console.Printable;
import io.zrecord.inspect.ChunkUsage;
import io.zrecord.inspect.DatasetUsage;
import io.zrecord.inspect.FieldUsage;
import io.zrecord.inspect.Fragmentation;
import io.zrecord.inspect.SizeHistogram;
import io.zrecord.inspect.SpaceUsage;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.stream.Collectors;

/** Prints how well bytes are used, as a table of chunks and a line for their sum. */
final class UsagePrinter {
  private final PrintWriter out;

  UsagePrinter(PrintWriter out) {
    this.out = out;
  }

  void printHeader() {
    out.println(
        "          bytes            live            dead         padding   bytes  records  chunk");
  }

  void print(ChunkUsage chunk) {
    print(chunk.space(), chunk.file());
  }

  private void print(SpaceUsage space, String name) {
    out.printf(
        Locale.ROOT,
        "%15d %15d %15d %15d %6.1f%% %7.1f%%  %s%n",
        space.fileBytes(),
        space.liveBytes(),
        space.deadBytes(),
        space.paddingBytes(),
        100 * space.byteUtilization(),
        100 * space.recordUtilization(),
        name);
  }

  void print(DatasetUsage usage) {
    print(usage.space(), "all " + usage.chunkCount() + " chunks");
    out.println("shard sizes: " + sizes(usage.shardSizes()));
    out.println("chunk sizes: " + sizes(usage.chunkSizes()));
    out.println("fragmentation: " + fragmentation(usage.fragmentation()));
    for (FieldUsage field : usage.fields()) {
      out.println("  " + Printable.of(field.field().name()) + ": " + field.liveBytes() + " bytes, "
          + field.absentCount() + " of " + field.recordCount() + " absent, "
          + fragmentation(field.fragmentation()));
    }
  }

  private static String fragmentation(Fragmentation fragmentation) {
    return String.format(
        Locale.ROOT,
        "%.1f %% scattered, %.0f bytes apart, a scan reads %.2f bytes for a live one",
        100 * fragmentation.scatteredShare(),
        fragmentation.meanJumpBytes(),
        fragmentation.scanCost());
  }

  private static String sizes(SizeHistogram histogram) {
    return histogram.buckets().isEmpty()
        ? "none"
        : histogram.buckets().stream()
            .map(bucket -> bucket.count() + " from " + size(bucket.fromBytes()))
            .collect(Collectors.joining(", "));
  }

  /** Formats 0 or a power of two. */
  private static String size(long bytes) {
    int step = (Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.max(1, bytes))) / 10;
    return (bytes >> (10 * step))
        + new String[] {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"}[step];
  }
}
