package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.cli.console.Printable;
import io.zrecord.cli.console.Progress;
import io.zrecord.findings.CheckListener;
import io.zrecord.findings.Finding;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Prints the first findings of a check and counts the others. Writes all findings to a report, if
 * there is one. Belongs to one thread.
 */
final class FindingPrinter implements CheckListener, AutoCloseable {
  private static final int MAX_PRINTED = 100;

  private final PrintWriter out;
  private final Progress progress;
  private final @Nullable BufferedWriter report;
  private final List<String> waiting = new ArrayList<>();
  private long count;
  private boolean isFinished;

  private FindingPrinter(PrintWriter out, Progress progress, @Nullable BufferedWriter report) {
    this.out = out;
    this.progress = progress;
    this.report = report;
  }

  /**
   * Creates a printer.
   *
   * @param report a file, which must not exist; null for no report
   */
  static FindingPrinter of(PrintWriter out, Progress progress, @Nullable Path report)
      throws IOException {
    if (report != null && Files.exists(report)) {
      throw new IllegalArgumentException(
          "Cannot write the report " + report + ": it exists; remove it or choose another name");
    }
    return new FindingPrinter(
        out,
        progress,
        report == null ? null : Files.newBufferedWriter(report, StandardCharsets.UTF_8));
  }

  @Override
  public void finding(Finding finding) {
    if (count++ < MAX_PRINTED) {
      waiting.add(
          (finding.kind().isDamage() ? "DAMAGE " : "note   ") + Printable.of(finding.toString()));
      if (!progress.isDrawing()) {
        printWaiting();
      }
    }
    if (report != null) {
      try {
        report.write(ValueJson.MAPPER.writeValueAsString(json(finding)));
        report.newLine();
      } catch (IOException e) {
        throw new UncheckedIOException("Cannot write the report: " + e.getMessage(), e);
      }
    }
  }

  private static ObjectNode json(Finding finding) {
    ObjectNode node = ValueJson.MAPPER
        .createObjectNode()
        .put("damage", finding.kind().isDamage())
        .put("kind", finding.kind().name().toLowerCase(Locale.ROOT))
        .put("file", finding.file());
    if (finding.field() != null) {
      node.put("field", finding.field());
    }
    if (finding.count() > 0) {
      node.put("index", finding.firstIndex()).put("count", finding.count());
    }
    return node.put("problem", finding.problem());
  }

  private void printWaiting() {
    waiting.forEach(out::println);
    waiting.clear();
    out.flush();
  }

  /** Ends the progress bar, so that printed lines stay, and prints the findings that waited. */
  void finish() {
    progress.close();
    printWaiting();
    if (count > MAX_PRINTED && !isFinished) {
      out.println("… and " + (count - MAX_PRINTED) + " more"
          + (report == null ? "; verify --report FILE writes all of them" : ""));
    }
    isFinished = true;
  }

  @Override
  public void progress(long doneBytes, long totalBytes) {
    progress.at(doneBytes, totalBytes);
  }

  @Override
  public void close() throws IOException {
    finish();
    if (report != null) {
      report.close();
    }
  }
}
