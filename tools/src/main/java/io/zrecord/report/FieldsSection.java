package io.zrecord.report;

import io.zrecord.inspect.FieldUsage;
import io.zrecord.schema.FieldSpec;
import java.util.List;
import java.util.Locale;

/**
 * Writes the fields: a table of all shown fields, and the sizes of each field's values. Belongs to
 * one thread.
 */
final class FieldsSection {
  private final Html page;
  private final List<FieldUsage> fields;

  FieldsSection(Html page, List<FieldUsage> fields) {
    this.page = page;
    this.fields = fields;
  }

  void writeTable() {
    page.start("div", "class", "scroll", "role", "region", "aria-label", "Fields", "tabindex", "0");
    page.start("table", "class", "wide").start("thead").start("tr");
    for (String name : List.of("field", "type", "shape", "codec")) {
      page.leaf("th", name, "scope", "col");
    }
    for (String name :
        List.of("values", "absent", "bytes", "mean", "in order", "read for a live byte")) {
      page.leaf("th", name, "scope", "col", "class", "number");
    }
    page.end().end().start("tbody");
    fields.forEach(this::writeRow);
    page.end().end().end();
  }

  private void writeRow(FieldUsage usage) {
    FieldSpec field = usage.field();
    long values = usage.recordCount() - usage.absentCount();
    page.start("tr").leaf("th", field.name(), "scope", "row");
    page.leaf("td", field.type().toString());
    page.leaf("td", field.shape().isScalar() ? "" : field.shape().toString());
    page.leaf("td", field.compression().toString());
    number(Amounts.count(values));
    number(Amounts.count(usage.absentCount()));
    number(Amounts.bytes(usage.liveBytes()));
    // Absent values of a fixed width take slots as well.
    long slots = usage.valueSizes().count();
    number(slots == 0 ? "" : Amounts.bytes(usage.liveBytes() / slots));
    number(Amounts.percent(1 - usage.fragmentation().scatteredShare()));
    number(String.format(Locale.ROOT, "%.2f", usage.fragmentation().scanCost()));
    page.end();
  }

  private void number(String text) {
    page.leaf("td", text, "class", "number");
  }

  void writeSizes() {
    page.start("div", "class", "cards");
    for (FieldUsage usage : fields) {
      page.start("figure", "class", "card sizes");
      page.start("figcaption").leaf("h3", usage.field().name()).end();
      HistogramTable.write(page, usage.valueSizes(), "values");
      page.end();
    }
    page.end();
  }
}
