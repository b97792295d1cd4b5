package io.zrecord.report;

import io.zrecord.inspect.Fragmentation;
import io.zrecord.inspect.SpaceUsage;
import io.zrecord.report.HeatMap.Cell;
import io.zrecord.report.HeatMap.Group;
import io.zrecord.schema.FieldSpec;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;

/**
 * Writes the picture of the chunks by shard, and the picture of the order of values by field and
 * shard. Belongs to one thread.
 */
final class HeatMapSection {
  private static final int MAX_NAMED_FIELDS = 4;
  /** Number of cells above which a group takes a line of its own. */
  private static final int MANY_CELLS = 64;
  /** Share that counts as full: headers and padding leave hardly any better one. */
  private static final double FULL = 0.98;

  private final Html page;
  private final HeatMap map;
  private final List<FieldSpec> fields;
  private final LongUnaryOperator shardOf;

  /**
   * Prepares the section.
   *
   * @param shardOf maps an index to the ordinal of its shard in the dataset
   */
  HeatMapSection(Html page, HeatMap map, List<FieldSpec> fields, LongUnaryOperator shardOf) {
    this.page = page;
    this.map = map;
    this.fields = fields;
    this.shardOf = shardOf;
  }

  void writeChunks() {
    page.leaf(
        "p",
        (map.chunksPerCell() == 1
                ? "A cell is a chunk file"
                : "A cell is up to " + Amounts.count(map.chunksPerCell())
                    + " chunk files that follow each other")
            + "; its colour says which part of its bytes is values that can be reached. The rest was replaced or deleted, or is"
            + " padding. Pointing at a cell shows its numbers.");
    writeLegend("0 %", "100 % live");
    page.start("div", "class", "shards");
    map.groups().forEach(this::writeGroup);
    page.end();
  }

  private void writeLegend(String low, String high) {
    page.start("div", "class", "legend", "aria-hidden", "true").leaf("span", low);
    page.start("ul", "class", "cells");
    for (int i = 0; i <= 10; i++) {
      page.leaf("li", "", "class", "c" + i);
    }
    page.end().leaf("span", high).end();
  }

  private void writeGroup(Group group) {
    page.start("div", "class", group.cells().size() > MANY_CELLS ? "group large" : "group");
    page.leaf("h3", names(group));
    String numbers = Amounts.count(group.chunkCount())
        + (group.chunkCount() == 1 ? " chunk, " : " chunks, ")
        + Amounts.bytes(group.space().fileBytes()) + ", "
        + Amounts.percent(group.space().byteUtilization()) + " live; records "
        + Amounts.count(group.firstIndex()) + " to "
        + Amounts.count(group.lastIndex());
    page.leaf("p", numbers);
    page.start(
        "ul",
        "class",
        "cells",
        "role",
        "img",
        "aria-label",
        "Utilization of its chunks: " + numbers);
    for (Cell cell : group.cells()) {
      page.leaf("li", "", "class", colour(cell.space().byteUtilization()), "title", told(cell));
    }
    page.end().end();
  }

  private String names(Group group) {
    long from = shardOf.applyAsLong(group.firstIndex());
    if (group.shardCount() == 1) {
      return "Shard " + Amounts.count(from);
    }
    long to = shardOf.applyAsLong(group.lastIndex());
    String names = "Shards " + Amounts.count(from) + " to " + Amounts.count(to);
    return group.shardCount() == to - from + 1
        ? names
        : names + ", " + Amounts.count(group.shardCount()) + " of them";
  }

  /** Returns the style class of a share from 0 to 1. */
  private static String colour(double share) {
    return "c" + (share >= FULL ? 10 : (int) Math.min(9, Math.max(0, share * 10)));
  }

  private String told(Cell cell) {
    SpaceUsage space = cell.space();
    String text = (cell.chunkCount() == 1
            ? cell.first().file()
            : Amounts.count(cell.chunkCount()) + " chunks from " + cell.first().file() + " on")
        + ": " + Amounts.percent(space.byteUtilization()) + " of "
        + Amounts.bytes(space.fileBytes()) + " live, " + Amounts.bytes(space.deadBytes())
        + " dead, " + Amounts.bytes(space.paddingBytes()) + " padding";
    if (space.writtenRecords() > 0) {
      text += "; " + Amounts.count(space.liveRecords()) + " records live, "
          + Amounts.count(space.writtenRecords()) + " written";
    }
    return cell.chunkCount() == 1 ? text + fieldsOf(cell) : text;
  }

  private String fieldsOf(Cell cell) {
    Map<Integer, String> names =
        fields.stream().collect(Collectors.toMap(FieldSpec::id, HeatMapSection::shortName));
    String shares = cell.first().liveBytes().entrySet().stream()
        .filter(field -> field.getValue() > 0 && names.containsKey(field.getKey()))
        .sorted(Map.Entry.<Integer, Long>comparingByValue().reversed())
        .limit(MAX_NAMED_FIELDS)
        .map(field -> names.get(field.getKey()) + " "
            + Amounts.percent(field.getValue(), cell.space().liveBytes()))
        .collect(Collectors.joining(", "));
    return shares.isEmpty() ? "" : "; of the live bytes " + shares;
  }

  private static String shortName(FieldSpec field) {
    String name = field.name();
    return name.length() <= 24 ? name : name.substring(0, 24) + "…";
  }

  /**
   * Writes, by field and shard, the share of values whose order in the file is that of the index.
   * Writes nothing if there is only one group.
   */
  void writeOrder(int maxFields) {
    if (map.groups().size() < 2) {
      return;
    }
    page.start("div", "class", "order");
    page.leaf("h3", "Order of values by field and shard");
    page.leaf(
        "p",
        "The colour says which part of the values of a field stands in its files right behind the value before it in index order.");
    writeLegend("0 %", "100 % in order");
    page.start(
        "div",
        "class",
        "scroll",
        "role",
        "region",
        "aria-label",
        "Order of values",
        "tabindex",
        "0");
    page.start("table");
    page.leaf(
        "caption",
        map.shardsPerGroup() == 1
            ? "A column is a shard."
            : "A column is " + Amounts.count(map.shardsPerGroup())
                + " shards, the last one fewer.");
    page.start("thead").start("tr");
    hiddenHead("field");
    map.groups().forEach(group -> hiddenHead(names(group)));
    page.end().end().start("tbody");
    for (int i = 0; i < Math.min(maxFields, fields.size()); i++) {
      writeOrderOf(i);
    }
    page.end().end().end().end();
  }

  private void hiddenHead(String text) {
    page.start("th", "scope", "col").leaf("span", text, "class", "hidden").end();
  }

  private void writeOrderOf(int field) {
    page.start("tr");
    page.leaf(
        "th",
        fields.get(field).name(),
        "scope",
        "row",
        "title",
        fields.get(field).name());
    for (Group group : map.groups()) {
      Fragmentation order = group.fragmentation(field);
      double share = 1 - order.scatteredShare();
      String text = Amounts.percent(share) + " in order, "
          + String.format(Locale.ROOT, "%.2f", order.scanCost()) + " bytes read for a live one";
      page.start("td", "class", colour(share), "title", text);
      page.leaf("span", Amounts.percent(share), "class", "hidden").end();
    }
    page.end();
  }
}
