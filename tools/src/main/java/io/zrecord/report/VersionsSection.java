package io.zrecord.report;

import io.zrecord.errors.ZRecordException;
import io.zrecord.inspect.TableHistory;
import io.zrecord.inspect.VersionEntry;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongFunction;

/**
 * Writes the newest versions of a table and the changes of each, newest first. Belongs to one
 * thread.
 */
final class VersionsSection {
  private static final int MAX_VERSIONS = 200;
  private static final int MAX_CHARACTERS = 80;
  private static final List<String> COLUMNS = List.of("version", "when (UTC)", "operation", "by");
  private static final List<String> NUMBER_COLUMNS =
      List.of("records added", "removed", "records", "bytes added", "removed", "shards");

  private final Html page;
  private final TableHistory history;

  VersionsSection(Html page, TableHistory history) {
    this.page = page;
    this.history = history;
  }

  void write() {
    List<Long> versions = history.versions();
    int shown = Math.min(MAX_VERSIONS, versions.size());
    page.start(
        "div", "class", "scroll", "role", "region", "aria-label", "Versions", "tabindex", "0");
    page.start("table", "class", "wide");
    if (shown < versions.size()) {
      page.leaf(
          "caption",
          "The newest " + shown + " of " + Amounts.count(versions.size()) + " versions.");
    }
    page.start("thead").start("tr");
    COLUMNS.forEach(name -> page.leaf("th", name, "scope", "col"));
    NUMBER_COLUMNS.forEach(name -> page.leaf("th", name, "scope", "col", "class", "number"));
    page.end().end().start("tbody");
    for (int i = versions.size() - 1; i >= versions.size() - shown; i--) {
      write(versions.get(i));
    }
    page.end().end().end();
  }

  private void write(long version) {
    try {
      Optional<VersionEntry> entry = history.find(version);
      if (entry.isPresent()) {
        write(entry.get());
      } // Otherwise the version was expired just now.
    } catch (ZRecordException e) {
      page.start("tr").leaf("th", Long.toString(version), "scope", "row");
      page.start("td", "colspan", Integer.toString(COLUMNS.size() - 1 + NUMBER_COLUMNS.size()));
      page.leaf("strong", "cannot be read: " + e.getMessage(), "class", "damage")
          .end()
          .end();
    }
  }

  private void write(VersionEntry entry) {
    page.start("tr").start("th", "scope", "row").text(entry.version() + " ");
    entry.tags().forEach(tag -> page.leaf("span", tag, "class", "tag", "title", "tag"));
    page.end().start("td", "class", "time");
    String time = entry.timestamp().truncatedTo(ChronoUnit.SECONDS).toString();
    page.leaf(
            "time",
            time.replace('T', ' ').replace("Z", ""),
            "datetime",
            entry.timestamp().toString())
        .end();
    page.leaf("td", cut(entry.operation())).leaf("td", cut(committer(entry)));
    number(entry.addedRecords(), Amounts::count);
    number(entry.removedRecords(), Amounts::count);
    number(OptionalLong.of(entry.recordCount()), Amounts::count);
    number(entry.addedBytes(), Amounts::bytes);
    number(entry.removedBytes(), Amounts::bytes);
    number(OptionalLong.of(entry.shardCount()), Amounts::count);
    page.end();
  }

  /** Writes a number; nothing if it is unknown. */
  private void number(OptionalLong number, LongFunction<String> form) {
    page.leaf("td", number.isPresent() ? form.apply(number.getAsLong()) : "", "class", "number");
  }

  private static String committer(VersionEntry entry) {
    List<String> names = new ArrayList<>();
    entry.user().ifPresent(names::add);
    for (String key : List.of("applicationName", "applicationId", "tool")) {
      Optional.ofNullable(entry.properties().get(key)).ifPresent(names::add);
    }
    names.removeIf(String::isEmpty);
    return String.join(", ", names);
  }

  private static String cut(String text) {
    return text.length() <= MAX_CHARACTERS ? text : text.substring(0, MAX_CHARACTERS) + "…";
  }
}
