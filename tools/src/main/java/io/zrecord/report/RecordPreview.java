package io.zrecord.report;

import io.zrecord.Batch;
import io.zrecord.RecordSource;
import io.zrecord.errors.ZRecordException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.text.ShortText;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Writes the table of some records: images as images, texts and numbers as short text. One value at
 * a time is in memory.
 */
final class RecordPreview {
  /** Greatest length of a value that is read. */
  private static final int MAX_VALUE_BYTES = 16 << 20;
  /** Greatest total size of a page's images. */
  private static final long MAX_PAGE_BYTES = 32L << 20;

  private static final int MAX_CHARACTERS = 300;

  private final Html page;
  private final RecordSource records;
  private final long maxImageBytes;
  private long pageBytes;

  RecordPreview(Html page, RecordSource records, long maxImageBytes) {
    this.page = page;
    this.records = records;
    this.maxImageBytes = maxImageBytes;
  }

  /**
   * Returns the evenly spaced indices of {@code count} records, including the first and the last.
   * Returns all indices if there are fewer records.
   */
  static long[] indices(long length, int count) {
    int taken = (int) Math.min(length, count);
    long[] indices = new long[taken];
    long steps = taken - 1L;
    for (int i = 1; i < taken; i++) {
      // The product of index and length could overflow.
      indices[i] = (length - 1) / steps * i + (length - 1) % steps * i / steps;
    }
    return indices;
  }

  void write(List<FieldSpec> fields, long[] indices) {
    page.start(
        "div", "class", "scroll", "role", "region", "aria-label", "Some records", "tabindex", "0");
    page.start("table", "class", "records").start("thead").start("tr");
    page.leaf("th", "index", "scope", "col", "class", "number");
    fields.forEach(field -> page.leaf("th", field.name(), "scope", "col"));
    page.end().end().start("tbody");
    for (long index : indices) {
      page.start("tr").leaf("th", Long.toString(index), "scope", "row", "class", "number");
      for (FieldSpec field : fields) {
        page.start("td");
        writeValue(index, field);
        page.end();
      }
      page.end();
    }
    page.end().end().end();
  }

  private void writeValue(long index, FieldSpec field) {
    byte[] value;
    try (Batch batch = records.gather(new long[] {index}, field.name())) {
      int lengthBytes = batch.lengthBytes(field.name(), 0);
      if (batch.isAbsent(field.name(), 0)) {
        page.leaf("span", "absent", "class", "note");
        return;
      }
      if (lengthBytes > MAX_VALUE_BYTES) {
        page.leaf("span", Amounts.bytes(lengthBytes) + ", too long to be shown", "class", "note");
        return;
      }
      value = batch.bytes(field.name(), 0);
    } catch (IndexOutOfBoundsException e) {
      // The store continues meanwhile.
      page.leaf("span", "deleted meanwhile", "class", "note");
      return;
    } catch (ZRecordException e) {
      page.leaf("strong", "cannot be read: " + e.getMessage(), "class", "damage");
      return;
    }
    if (!writePicture(index, field, value)) {
      writeText(field, value);
    }
  }

  private boolean writePicture(long index, FieldSpec field, byte[] value) {
    String name = "field " + field.name() + " of record " + index;
    Optional<PixelImage> pixels = PixelImage.of(field, value);
    if (pixels.isPresent()) {
      PixelImage image = pixels.get();
      writeImage(
          ImageType.PNG,
          image.png(),
          image.width() + " × " + image.height() + " pixels: " + name,
          "width",
          Integer.toString(image.shown(image.width()) * image.magnification()),
          "height",
          Integer.toString(image.shown(image.height()) * image.magnification()));
      return true;
    }
    boolean isBytes = field.type().equals(ElementType.BYTES)
        || (field.type().equals(ElementType.U8) && field.shape().dimensions().size() == 1);
    Optional<ImageType> type = isBytes ? ImageType.of(value) : Optional.empty();
    type.ifPresent(found ->
        writeImage(found, value, found + " image of " + Amounts.bytes(value.length) + ": " + name));
    return type.isPresent();
  }

  private void writeImage(ImageType type, byte[] bytes, String alternative, String... size) {
    if (bytes.length > maxImageBytes || pageBytes + bytes.length > MAX_PAGE_BYTES) {
      String reason = bytes.length > maxImageBytes
          ? "more than the " + Amounts.bytes(maxImageBytes) + " that an image may have here"
          : "the page has " + Amounts.bytes(pageBytes) + " of images already";
      page.leaf(
          "span",
          type + " image of " + Amounts.bytes(bytes.length) + ": " + reason,
          "class",
          "note");
      return;
    }
    pageBytes += bytes.length;
    page.image(type, bytes, alternative, size);
  }

  private void writeText(FieldSpec field, byte[] value) {
    if (!field.type().equals(ElementType.UTF8)) {
      page.leaf("code", ShortText.of(field, value));
      return;
    }
    // A character has one to four bytes.
    byte[] first = Arrays.copyOf(value, Math.min(value.length, 4 * MAX_CHARACTERS));
    String text = new String(first, StandardCharsets.UTF_8);
    boolean isWhole = first.length == value.length && text.length() <= MAX_CHARACTERS;
    page.start("span", "class", "text", "dir", "auto")
        .text(isWhole ? text : text.substring(0, Math.min(text.length(), MAX_CHARACTERS)) + "…")
        .end();
    if (!isWhole) {
      page.leaf("span", String.format(Locale.ROOT, "%,d bytes", value.length), "class", "note");
    }
  }
}
