package io.zrecord.report;

import io.zrecord.DatasetKind;
import io.zrecord.RecordSource;
import io.zrecord.Storages;
import io.zrecord.inspect.DatasetUsage;
import io.zrecord.inspect.FieldUsage;
import io.zrecord.inspect.Fragmentation;
import io.zrecord.inspect.SpaceUsage;
import io.zrecord.inspect.TableHistory;
import io.zrecord.schema.FieldSpec;
import io.zrecord.table.TableSnapshot;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Writes the page, section by section. Belongs to one thread. */
final class ReportPage {
  /** Greatest number of fields shown. */
  static final int MAX_FIELDS = 64;

  private final Html page;
  private final String location;
  private final DatasetKind kind;
  private final Optional<TableSnapshot> snapshot;
  private final DatasetUsage usage;
  private final HeatMap map;
  private final List<FieldUsage> shownFields;

  ReportPage(
      Html page,
      String location,
      DatasetKind kind,
      Optional<TableSnapshot> snapshot,
      DatasetUsage usage,
      HeatMap map) {
    this.page = page;
    this.location = Storages.localPath(location)
        .map(path -> path.toAbsolutePath().normalize().toString())
        .orElse(location);
    this.kind = kind;
    this.snapshot = snapshot;
    this.usage = usage;
    this.map = map;
    this.shownFields = usage.fields().stream().limit(MAX_FIELDS).toList();
  }

  void write(RecordSource records, int recordCount, long maxImageBytes, Instant time) {
    String name = location.substring(location.lastIndexOf('/') + 1);
    page.page(PageStyle.load(), name + " – zrecord report").start("body");
    page.start("header").leaf("h1", name);
    page.leaf("p", location, "class", "path");
    page.leaf(
        "p",
        "A " + kind.name().toLowerCase(Locale.ROOT) + version() + "; looked at on "
            + time.truncatedTo(ChronoUnit.SECONDS) + ".");
    writeSample();
    writeTotals();
    page.end().start("main");
    writeChunks();
    writeFields();
    if (snapshot.isPresent()) {
      section("versions", "Versions");
      new VersionsSection(page, TableHistory.of(snapshot.get().storage())).write();
      page.end();
    }
    writeRecords(records, recordCount, maxImageBytes);
    page.end();
    page.leaf("footer", "Made by zrecord report. This page loads nothing and runs no script.");
    page.end().end();
  }

  private void section(String id, String title) {
    page.start("section", "id", id, "aria-labelledby", id + "-title")
        .leaf("h2", title, "id", id + "-title");
  }

  private String version() {
    return snapshot
        .map(found -> ", version " + found.version() + " of "
            + found.timestamp().truncatedTo(ChronoUnit.SECONDS))
        .orElse("");
  }

  private boolean isSample() {
    return snapshot.isPresent() && usage.shardCount() < snapshot.get().shards().size();
  }

  private void writeSample() {
    if (isSample()) {
      page.leaf(
          "p",
          "Sampled: " + Amounts.count(usage.shardCount()) + " of "
              + Amounts.count(snapshot.orElseThrow().shards().size())
              + " shards were looked at, at even distances, with "
              + Amounts.count(usage.recordCount()) + " of "
              + Amounts.count(snapshot.orElseThrow().length())
              + " records. What is said of chunks, fields and sizes is said of these.",
          "id",
          "sample");
    }
  }

  private void writeTotals() {
    SpaceUsage space = usage.space();
    Fragmentation order = usage.fragmentation();
    page.start("dl", "class", "totals");
    total(
        "records",
        Amounts.count(snapshot.map(TableSnapshot::length).orElse(usage.recordCount())),
        usage.fields().size() + (usage.fields().size() == 1 ? " field" : " fields"));
    total(
        "chunk files",
        Amounts.count(usage.chunkCount()),
        "in " + Amounts.count(usage.shardCount())
            + (usage.shardCount() == 1 ? " shard" : " shards"));
    total(
        "size of chunks",
        Amounts.bytes(space.fileBytes()),
        Amounts.count(space.fileBytes()) + " bytes");
    total(
        "utilization, bytes",
        Amounts.percent(space.byteUtilization()),
        Amounts.bytes(space.liveBytes()) + " live");
    total(
        "utilization, records",
        Amounts.percent(space.recordUtilization()),
        Amounts.count(space.writtenRecords()) + " written");
    total(
        "dead",
        Amounts.bytes(space.deadBytes()),
        Amounts.percent(space.deadBytes(), Math.max(1, space.fileBytes())));
    total(
        "padding",
        Amounts.bytes(space.paddingBytes()),
        Amounts.percent(space.paddingBytes(), Math.max(1, space.fileBytes())));
    total(
        "values in order",
        Amounts.percent(1 - order.scatteredShare()),
        "a scan reads " + String.format(Locale.ROOT, "%.2f", order.scanCost())
            + " × the live bytes");
    page.end();
  }

  private void total(String name, String value, String note) {
    page.start("div").leaf("dt", name).start("dd").text(value + " ");
    page.leaf("span", note, "class", "note").end().end();
  }

  private void writeChunks() {
    section("chunks", "Chunks");
    List<FieldSpec> fields = shownFields.stream().map(FieldUsage::field).toList();
    HeatMapSection section = new HeatMapSection(
        page, map, fields, index -> snapshot.map(found -> found.shardOf(index)).orElse(0));
    section.writeChunks();
    section.writeOrder(MAX_FIELDS);
    page.start("div", "class", "cards");
    page.start("figure", "class", "card", "id", "chunk-sizes");
    page.start("figcaption").leaf("h3", "Sizes of chunks").end();
    HistogramTable.write(page, usage.chunkSizes(), "chunks");
    page.end().start("figure", "class", "card", "id", "shard-sizes");
    page.start("figcaption").leaf("h3", "Sizes of shards").end();
    HistogramTable.write(page, usage.shardSizes(), "shards");
    page.end().end().end();
  }

  private void writeFields() {
    section("fields", "Fields");
    if (shownFields.size() < usage.fields().size()) {
      page.leaf(
          "p",
          "The first " + shownFields.size() + " of "
              + Amounts.count(usage.fields().size()) + " fields.");
    }
    FieldsSection section = new FieldsSection(page, shownFields);
    section.writeTable();
    page.end();
    section("sizes", "Sizes of values");
    page.leaf(
        "p",
        "In bytes as they are stored, compressed where the field has a codec; every value is counted"
            + (isSample() ? " of the shards that were looked at." : "."));
    section.writeSizes();
    page.end();
  }

  private void writeRecords(RecordSource records, int recordCount, long maxImageBytes) {
    long length = records.length();
    long[] indices = RecordPreview.indices(length, recordCount);
    if (indices.length == 0) {
      return;
    }
    section("records", "Records");
    page.leaf(
        "p",
        Amounts.count(indices.length) + " of " + Amounts.count(length) + ", at even distances.");
    new RecordPreview(page, records, maxImageBytes)
        .write(shownFields.stream().map(FieldUsage::field).toList(), indices);
    page.end();
  }
}
