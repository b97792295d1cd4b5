package io.zrecord.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.Repository;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Attribute;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jsoup.parser.Parser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page as an HTML parser sees it, of datasets whose contents are known. */
final class DatasetReportTest {
  @TempDir
  Path directory;

  private Document report(Path dataset, int records) throws IOException {
    return page(DatasetReport.of(dataset.toString()).records(records));
  }

  private Document page(DatasetReport report) throws IOException {
    Path file = directory.resolve("report.html");
    Files.deleteIfExists(file);
    report.write(file);
    String page = Files.readString(file, StandardCharsets.UTF_8);
    Parser parser = Parser.htmlParser().setTrackErrors(100);
    Document parsed = Jsoup.parse(page, "", parser);
    assertThat(parser.getErrors()).isEmpty();
    return parsed;
  }

  /** The cells of a table's rows. */
  private static List<List<String>> rows(Element table) {
    return table.select("tbody tr").stream()
        .map(row -> row.select("th, td").stream().map(Element::text).toList())
        .toList();
  }

  private static String total(Document page, String name) {
    Element title = page.select(".totals dt").stream()
        .filter(element -> element.text().equals(name))
        .findFirst()
        .orElseThrow();
    return title.nextElementSibling().text();
  }

  @Test
  void numbersAreThoseOfTheTable() throws IOException {
    Path table = directory.resolve("gallery");
    ReportData.gallery(table);
    Document page = report(table, 0);
    assertThat(page.title()).isEqualTo("gallery – zrecord report");
    assertThat(page.select("h1").text()).isEqualTo("gallery");
    assertThat(total(page, "records")).isEqualTo("50 6 fields");
    List<Integer> chunks = ReportData.chunkCounts(table);
    assertThat(chunks).hasSize(3).allMatch(count -> count > 1);
    int chunkCount = chunks.stream().mapToInt(Integer::intValue).sum();
    assertThat(total(page, "chunk files")).isEqualTo(chunkCount + " in 3 shards");
    assertThat(total(page, "dead")).isEqualTo("0 bytes 0.0 %");
    assertThat(total(page, "utilization, records")).isEqualTo("100 % 50 written");
    assertThat(page.select("#chunks .group h3").eachText())
        .containsExactly("Shard 0", "Shard 1", "Shard 2");
    assertThat(page.select("#chunks .group .cells").stream().map(Element::childrenSize))
        .containsExactlyElementsOf(chunks);
    assertThat(page.select("#chunks .group p").first().text()).contains("records 0 to 15");
    assertThat(page.select("#chunks .group .cells li").attr("title"))
        .contains(".zr: ")
        .contains(" padding; of the live bytes ")
        .doesNotContain("written");
    assertThat(page.select("#records")).isEmpty();
    Path chunk = Path.of(page.select("#chunks .group .cells li").attr("title").split(":", 2)[0]);
    assertThat(table.resolve(chunk)).exists();
  }

  @Test
  void ofVeryManyEntriesSomeShardsAreLookedAt() throws IOException {
    Path table = directory.resolve("gallery");
    ReportData.gallery(table);
    assertThat(report(table, 0).select("#sample")).isEmpty();
    List<Long> told = new ArrayList<>();
    Document page = page(DatasetReport.of(table.toString())
        .records(3)
        .maxEntries(25_000)
        .onProgress((done, total) -> told.add(done)));
    assertThat(told).hasSize(2);
    assertThat(page.select("#sample").text())
        .startsWith("Sampled: 2 of 3 shards were looked at, at even distances, with ")
        .contains(" of 50 records.");
    assertThat(page.select("#chunks .group h3").eachText()).containsExactly("Shard 0", "Shard 1");
    assertThat(total(page, "records")).isEqualTo("50 6 fields");
    assertThat(page.select("#sizes p").text())
        .endsWith("every value is counted of the shards that were looked at.");
    // One shard is looked at whatever the limit.
    Document least = page(DatasetReport.of(table.toString()).maxEntries(1));
    assertThat(total(least, "records")).isEqualTo("50 6 fields");
    assertThat(least.select("#sample").text()).contains("1 of 3 shards").contains("16 of 50");
    assertThatThrownBy(() -> DatasetReport.of(table.toString()).maxEntries(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void thePageCanBeReadAloud() throws IOException {
    Path table = directory.resolve("gallery");
    ReportData.gallery(table);
    Document page = report(table, 5);
    assertThat(page.select("html").attr("lang")).isEqualTo("en");
    assertThat(page.select("img")).isNotEmpty();
    assertThat(page.select("img:not([alt]), img[alt='']")).isEmpty();
    assertThat(page.select("th:not([scope])")).isEmpty();
    assertThat(page.select("table:not(:has(thead))")).isEmpty();
    assertThat(page.select("ul[role=img]:not([aria-label])")).isEmpty();
    for (Element section : page.select("section")) {
      assertThat(page.getElementById(section.attr("aria-labelledby")).text()).isNotEmpty();
    }
  }

  @Test
  void sizesOfValuesAreCounted() throws IOException {
    Path table = directory.resolve("gallery");
    ReportData.gallery(table);
    Document page = report(table, 0);
    assertThat(page.select("#sizes figure h3").eachText())
        .containsExactly("blob", "text", "picture", "digit", "photo", "vector");
    List<Element> histograms = page.select("#sizes figure table");
    // The blob of record i has i bytes.
    assertThat(histograms.get(0).select("tbody th").eachText())
        .containsExactly(
            "0 bytes",
            "1 byte",
            "2 to 3 bytes",
            "4 to 7 bytes",
            "8 to 15 bytes",
            "16 to 31 bytes",
            "32 to 63 bytes");
    assertThat(histograms.get(0).select("tbody td.number").eachText())
        .containsExactly("1", "1", "2", "4", "8", "16", "18");
    assertThat(histograms.get(0).select("rect").last().attr("width")).isEqualTo("100.00");
    assertThat(histograms.get(3).select("tbody th, tbody td.number").eachText())
        .containsExactly("512 to 1023 bytes", "50");
    List<List<String>> fields = rows(page.select("#fields table").first());
    assertThat(fields.get(0).subList(0, 8))
        .containsExactly("blob", "bytes", "", "raw", "50", "0", "1.2 KiB", "24 bytes");
    assertThat(fields.get(1).subList(4, 6)).containsExactly("45", "5");
    assertThat(fields.get(3).subList(1, 3)).containsExactly("u8", "[28,28]");
    assertThat(page.select("#chunk-sizes td.number").eachText().stream()
            .mapToInt(Integer::parseInt)
            .sum())
        .isEqualTo(
            ReportData.chunkCounts(table).stream().mapToInt(Integer::intValue).sum());
    assertThat(page.select("#shard-sizes td.number").eachText().stream()
            .mapToInt(Integer::parseInt)
            .sum())
        .isEqualTo(3);
  }

  @Test
  void versionsSayWhatTheyChanged() throws IOException {
    Path table = directory.resolve("gallery");
    ReportData.gallery(table);
    List<List<String>> versions =
        rows(report(table, 0).select("#versions table").first());
    String user = System.getProperty("user.name");
    assertThat(versions).hasSize(3);
    assertThat(versions.get(0).get(0)).isEqualTo("2");
    assertThat(versions.get(0).get(2)).isEqualTo("tag");
    assertThat(versions.get(0).get(6)).isEqualTo("50");
    assertThat(versions.get(1).get(0)).isEqualTo("1");
    assertThat(versions.get(1).subList(2, 7)).containsExactly("append", user, "10", "0", "50");
    assertThat(versions.get(1).get(8)).isEqualTo("0 bytes");
    assertThat(versions.get(2).get(0)).isEqualTo("0 release-1.0");
    assertThat(versions.get(2).subList(2, 7)).containsExactly("create", user, "40", "0", "40");
    assertThat(versions.get(2).get(1))
        .isEqualTo(RecordTable.at(LocalStorage.at(table))
            .version(0)
            .timestamp()
            .toString()
            .substring(0, 19)
            .replace('T', ' '));
  }

  @Test
  void imagesAreImagesAndTextIsText() throws IOException {
    Path table = directory.resolve("gallery");
    ReportData.gallery(table);
    Document page = report(table, 50);
    List<List<String>> records = rows(page.select("#records table").first());
    assertThat(records).hasSize(50);
    assertThat(records.get(7).get(0)).isEqualTo("7");
    assertThat(records.get(7).get(2)).isEqualTo("record 7 says ünïcödé 漢字 & <em>so</em>");
    assertThat(records.get(13).get(2)).isEqualTo("absent");
    assertThat(records.get(4).get(3)).isEqualTo("absent");
    assertThat(records.get(2).get(6)).isEqualTo("f32[3] of 3: 2.0 0.5 -1.0");
    assertThat(page.select("#records img")).hasSize(ReportData.GALLERY_IMAGES);
    assertThat(page.select("#records tbody tr").get(2).select("img").eachAttr("alt"))
        .containsExactly(
            "GIF image of " + Amounts.bytes(image(page, 2, 0).length)
                + ": field picture of record 2",
            "28 × 28 pixels: field digit of record 2",
            "20 × 12 pixels: field photo of record 2");
    assertThat(page.select("#records tbody tr").get(3).select("img").first().attr("src"))
        .startsWith("data:image/webp;base64,");
    BufferedImage digit = ImageIO.read(new ByteArrayInputStream(image(page, 2, 1)));
    byte[] grey = ReportData.pixels(2, 28 * 28);
    assertThat(digit.getWidth()).isEqualTo(28);
    assertThat(digit.getRaster().getSample(5, 3, 0)).isEqualTo(grey[3 * 28 + 5] & 0xff);
    BufferedImage photo = ImageIO.read(new ByteArrayInputStream(image(page, 2, 2)));
    byte[] colours = ReportData.pixels(2, 12 * 20 * 3);
    assertThat(photo.getHeight()).isEqualTo(12);
    int at = (7 * 20 + 11) * 3;
    assertThat(photo.getRGB(11, 7) & 0xffffff)
        .isEqualTo(
            (colours[at] & 0xff) << 16 | (colours[at + 1] & 0xff) << 8 | (colours[at + 2] & 0xff));
  }

  private static byte[] image(Document page, int record, int place) {
    Element image = page.select("#records tbody tr").get(record).select("img").get(place);
    return Base64.getDecoder().decode(image.attr("src").split(",", 2)[1]);
  }

  @Test
  void largeImagesAreNamedOnly() throws IOException {
    Path table = directory.resolve("gallery");
    ReportData.gallery(table);
    Path file = directory.resolve("small.html");
    DatasetReport.of(table.toString()).records(5).maxImageBytes(0).write(file);
    Document page = Jsoup.parse(Files.readString(file));
    assertThat(page.select("img")).isEmpty();
    assertThat(page.select("#records").text())
        .contains("more than the 0 bytes that an image may have");
  }

  @Test
  void deadBytesOfAStoreAreShown() throws IOException {
    Path store = directory.resolve("store");
    ReportData.halfDeadStore(store);
    Document page = report(store, 3);
    assertThat(page.select("header p").get(1).text()).startsWith("A store; looked at on 2");
    assertThat(total(page, "records")).isEqualTo("15 1 field");
    assertThat(total(page, "utilization, bytes")).isEqualTo("49.8 % 14.6 KiB live");
    assertThat(total(page, "dead")).isEqualTo("14.6 KiB 49.8 %");
    assertThat(total(page, "padding")).isEqualTo("64 bytes 0.2 %");
    assertThat(page.select("#chunks .group .cells li")).hasSize(1);
    assertThat(page.select("#chunks .group .cells li").attr("class")).isEqualTo("c4");
    assertThat(page.select("#versions")).isEmpty();
    assertThat(rows(page.select("#records table").first()).stream().map(row -> row.get(0)))
        .containsExactly("0", "7", "14");
  }

  @Test
  void aTableOfEveryTypeIsShown() throws IOException {
    Document page =
        report(Repository.path("engine/core/src/test/resources/golden/v2/unchecked"), 1000);
    assertThat(page.select("header p").get(1).text()).startsWith("A table, version 0 of 2");
    assertThat(page.select("#records tbody tr").size())
        .isEqualTo(Integer.parseInt(total(page, "records").split(" ", 2)[0]));
    assertThat(page.select(".damage")).isEmpty();
  }

  @Test
  void aTableWithoutRecordsHasNothingToShow() throws IOException {
    Path table = directory.resolve("empty");
    RecordSchema schema = RecordSchema.builder().field("f", ElementType.I64).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(table.toString(), schema, WriteOptions.defaults())) {
      writer.commit();
    }
    Document page = report(table, 5);
    assertThat(total(page, "records")).isEqualTo("0 1 field");
    assertThat(page.select("#chunks .group, #records")).isEmpty();
    assertThat(page.select("#sizes figure").text()).isEqualTo("f no values");
    assertThat(page.select("#versions tbody tr")).hasSize(1);
  }

  @Test
  void hostileContentsStayText() throws Exception {
    Path table =
        directory.resolve("<script>alert(1)<").resolve("script><img src=x onerror=alert(1)>");
    ReportData.hostile(table);
    Document page = report(table, 10);
    assertThat(page.select("script, iframe, object, embed, link, base, form, a, video, audio"))
        .isEmpty();
    List<String> attributes = new ArrayList<>();
    for (Element element : page.getAllElements()) {
      for (Attribute attribute : element.attributes()) {
        attributes.add(attribute.getKey());
        assertThat(attribute.getKey()).doesNotStartWith("on").isNotIn("style", "href");
        if (attribute.getKey().equals("src")) {
          assertThat(attribute.getValue()).startsWith("data:image/gif;base64,");
        }
      }
    }
    assertThat(attributes).contains("title", "src");
    String shown = ReportData.HOSTILE.replace("\u202e", "\\u202e").replace("\u0007", "\\u0007");
    assertThat(page.select("#fields tbody th").first().wholeText()).isEqualTo(shown);
    assertThat(page.select("#records thead th").get(1).wholeText()).isEqualTo(shown);
    assertThat(page.select("#records tbody tr").first().select(".text").first().wholeText())
        .isEqualTo(shown);
    assertThat(page.select("#versions").text()).contains("<script>window.pwned=1</script>");
    assertThat(page.select("h1").text()).isEqualTo("script><img src=x onerror=alert(1)>");
    requirePolicy(page);
  }

  /** The page allows its own style and its own images, and nothing else. */
  private static void requirePolicy(Document page) throws Exception {
    assertThat(page.select("style")).hasSize(1);
    String style = page.select("style").first().data();
    String hash = Base64.getEncoder()
        .encodeToString(
            MessageDigest.getInstance("SHA-256").digest(style.getBytes(StandardCharsets.UTF_8)));
    Element policy = page.select("meta[http-equiv=Content-Security-Policy]").first();
    assertThat(policy.attr("content"))
        .isEqualTo("default-src 'none'; img-src data:; style-src 'sha256-" + hash
            + "'; base-uri 'none'; form-action 'none'");
    assertThat(policy.elementSiblingIndex())
        .isLessThan(page.select("style").first().elementSiblingIndex());
    assertThat(style).doesNotContain("url(").doesNotContain("@import");
  }

  @Test
  void aDamagedValueIsSaidToBe() throws IOException {
    Path table = directory.resolve("gallery");
    ReportData.gallery(table);
    Path chunk;
    try (Stream<Path> files = Files.walk(table)) {
      chunk = files
          .filter(file -> file.toString().endsWith(".zr"))
          .sorted()
          .findFirst()
          .orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(chunk);
    for (int i = 64; i < bytes.length; i++) {
      bytes[i] ^= 1;
    }
    Files.write(chunk, bytes);
    Document page = report(table, 50);
    assertThat(page.select("#records .damage").first().text()).startsWith("cannot be read: ");
    assertThat(page.select("#records tbody tr")).hasSize(50);
  }

  @Test
  void nothingIsOverwrittenAndNothingIsLeftBehind() throws IOException {
    Path file = directory.resolve("report.html");
    assertThatThrownBy(
            () -> DatasetReport.of(directory.resolve("none").toString()).write(file))
        .isInstanceOf(NotADatasetException.class);
    assertThat(file).doesNotExist();
    Path table = directory.resolve("gallery");
    ReportData.gallery(table);
    assertThatThrownBy(
            () -> DatasetReport.of(table.toString()).write(directory.resolve("no/report.html")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("create it first");
    Files.writeString(file, "mine");
    assertThatThrownBy(() -> DatasetReport.of(table.toString()).write(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("it exists");
    assertThat(file).hasContent("mine");
    Files.delete(file);
    Path manifest = table.resolve("manifest");
    try (Stream<Path> files = Files.list(manifest)) {
      Path newest = files
          .filter(name -> name.toString().endsWith(".json"))
          .max(Comparator.naturalOrder())
          .orElseThrow();
      Files.writeString(newest, "{");
    }
    assertThatThrownBy(() -> DatasetReport.of(table.toString()).write(file))
        .hasMessageContaining("manifest");
    assertThat(file).doesNotExist();
    assertThatThrownBy(() -> DatasetReport.of(table.toString()).records(-1))
        .hasMessageContaining("0 to 1000");
  }

  @Test
  void recordsAreAtEvenDistances() {
    assertThat(RecordPreview.indices(101, 5)).containsExactly(0, 25, 50, 75, 100);
    assertThat(RecordPreview.indices(3, 5)).containsExactly(0, 1, 2);
    assertThat(RecordPreview.indices(9, 1)).containsExactly(0);
    assertThat(RecordPreview.indices(0, 4)).isEmpty();
    assertThat(RecordPreview.indices(Long.MAX_VALUE, 3))
        .containsExactly(0, (Long.MAX_VALUE - 1) / 2, Long.MAX_VALUE - 1);
  }

  @Test
  void amountsAreRoundedDownAndExactWhereShort() {
    assertThat(Amounts.bytes(1023)).isEqualTo("1023 bytes");
    assertThat(Amounts.bytes(1024)).isEqualTo("1.0 KiB");
    assertThat(Amounts.bytes((1 << 20) - 1)).isEqualTo("1.0 MiB");
    assertThat(Amounts.bytes(Long.MAX_VALUE)).isEqualTo("8.0 EiB");
    assertThat(Amounts.powerOfTwo(1 << 16)).isEqualTo("64 KiB");
    assertThat(Amounts.powerOfTwo(Long.MIN_VALUE)).isEqualTo("8 EiB");
    assertThat(Amounts.percent(9999, 10_000)).isEqualTo("99.9 %");
    assertThat(Amounts.percent(0, 0)).isEqualTo("100 %");
    assertThat(Amounts.percent(29, 1000)).isEqualTo("2.9 %");
  }
}
