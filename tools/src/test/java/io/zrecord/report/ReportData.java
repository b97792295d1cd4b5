package io.zrecord.report;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreDurability;
import io.zrecord.store.StoreOptions;
import io.zrecord.store.StoreSnapshot;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import javax.imageio.ImageIO;

/** Datasets whose contents are known, to be reported on. */
final class ReportData {
  /** Everything that ends a tag, an attribute or a style, and a script in each of them. */
  static final String HOSTILE = "</td></style></title>\"'><script>window.pwned=1</script>"
      + "<img src=x onerror=window.pwned=2><svg onload=window.pwned=3>&lt;b&gt;\u202etxt.exe\u0007";

  static final int PIXEL_WIDTH = 28;
  static final int PHOTO_HEIGHT = 12;
  static final int PHOTO_WIDTH = 20;
  /** Records of {@link #gallery}. */
  static final int GALLERY_RECORDS = 50;
  /** Images among them: two tensors of each record, and four of five pictures. */
  static final int GALLERY_IMAGES = 2 * GALLERY_RECORDS + 4 * GALLERY_RECORDS / 5;

  private static final String WEBP = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA";
  private static final RecordSchema GALLERY = RecordSchema.builder()
      .field("blob", ElementType.BYTES)
      .field("text", ElementType.UTF8, Shape.scalar(), Compression.parse("zstd:3"))
      .field("picture", ElementType.BYTES)
      .field("digit", ElementType.U8, Shape.of(PIXEL_WIDTH, PIXEL_WIDTH), Compression.RAW)
      .field("photo", ElementType.U8, Shape.of(PHOTO_HEIGHT, PHOTO_WIDTH, 3), Compression.RAW)
      .field("vector", ElementType.F32, Shape.of(3), Compression.RAW)
      .build();
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withChunkBytes(8 << 10).withDurability(Durability.NONE);

  private ReportData() {}

  /**
   * A table of two writes, a tag of the first, and three shards of several chunks. The blob of
   * record <i>i</i> has <i>i</i> bytes, its picture is absent or of one of four kinds, its text is
   * absent in the records 3, 13, 23, …
   */
  static void gallery(Path path) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), GALLERY, OPTIONS)) {
      append(writer.newAppender(), 0, 16);
      append(writer.newAppender(), 16, 40);
      writer.commit();
    }
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), GALLERY, OPTIONS)) {
      append(writer.newAppender(), 40, GALLERY_RECORDS);
      writer.commit();
    }
    RecordTable.at(LocalStorage.at(path)).tag(0, "release-1.0");
  }

  /** Returns the number of chunks of each shard. */
  static List<Integer> chunkCounts(Path table) {
    return RecordTable.at(LocalStorage.at(table)).latest().shards().stream()
        .map(ShardSummary::chunkCount)
        .toList();
  }

  private static void append(RecordAppender appender, int from, int to) {
    for (int i = from; i < to; i++) {
      appender
          .set("blob", new byte[i])
          .set("digit", pixels(i, PIXEL_WIDTH * PIXEL_WIDTH))
          .set("photo", pixels(i, PHOTO_HEIGHT * PHOTO_WIDTH * 3))
          .set("vector", new float[] {i, 0.5f, -1});
      if (i % 10 != 3) {
        appender.set("text", "record " + i + " says ünïcödé 漢字 & <em>so</em>");
      }
      if (i % 5 != 4) {
        appender.set("picture", picture(i % 5));
      }
      appender.endRecord();
    }
  }

  static byte[] pixels(int record, int count) {
    byte[] pixels = new byte[count];
    for (int i = 0; i < count; i++) {
      pixels[i] = (byte) (i * 5 + record * 20);
    }
    return pixels;
  }

  private static byte[] picture(int kind) {
    if (kind == 3) {
      return Base64.getDecoder().decode(WEBP);
    }
    BufferedImage image = new BufferedImage(60, 40, BufferedImage.TYPE_3BYTE_BGR);
    for (int y = 0; y < 40; y++) {
      for (int x = 0; x < 60; x++) {
        image.setRGB(x, y, (x * 4) << 16 | (y * 6) << 8 | kind * 100);
      }
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      ImageIO.write(image, List.of("png", "jpeg", "gif").get(kind), bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** A table with {@link #HOSTILE} wherever a writer may leave a string. */
  static void hostile(Path path) {
    RecordSchema schema = RecordSchema.builder()
        .field(HOSTILE, ElementType.UTF8)
        .field("bytes", ElementType.BYTES)
        .build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), schema, OPTIONS)) {
      RecordAppender appender = writer.newAppender();
      appender
          .set(HOSTILE, HOSTILE)
          .set("bytes", HOSTILE.getBytes(StandardCharsets.UTF_8))
          .endRecord();
      // Begins as an image, and is none.
      appender
          .set(HOSTILE, "javascript:alert(1)")
          .set("bytes", ("GIF89a" + HOSTILE).getBytes(StandardCharsets.UTF_8))
          .endRecord();
      writer.commit();
    }
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    TableSnapshot base = table.latest();
    table.commit(TableChange.of(TableChange.Kind.APPEND, base.schema())
        .baseTable(base.tableId(), base.version())
        .properties(Map.of("user", HOSTILE, "applicationName", HOSTILE, "applicationId", HOSTILE))
        .build());
  }

  /**
   * A store of 20 records of 1,000 bytes, 10 of which were replaced and 5 others deleted: 15 of 30
   * are alive.
   */
  static void halfDeadStore(Path path) {
    RecordSchema schema =
        RecordSchema.builder().field("data", ElementType.BYTES).build();
    StoreOptions options = StoreOptions.defaults().withDurability(StoreDurability.NONE);
    try (RecordStore store = RecordStore.create(path, schema, options)) {
      for (int i = 0; i < 20; i++) {
        store.append(store.newValues().set("data", new byte[1000]));
      }
      for (int i = 0; i < 10; i++) {
        store.update(i, store.newValues().set("data", new byte[1000]));
      }
      for (int i = 0; i < 5; i++) {
        store.delete(store.pendingLength() - 1);
      }
      store.commit();
    }
  }

  /**
   * A table of many shards, the first of which has lived: some of its {@code chunks} chunks are
   * nearly dead, others whole.
   */
  static void worn(Path path, Path store, int chunks, int appends) {
    int records = chunks * 8;
    Random random = new Random(7);
    StoreOptions options =
        StoreOptions.defaults().withDurability(StoreDurability.NONE).withChunkRecords(8);
    try (RecordStore worn = RecordStore.create(store, GALLERY, options)) {
      for (int i = 0; i < records; i++) {
        worn.append(worn.newValues()
            .set("blob", new byte[random.nextInt(2000)])
            .set("text", "text " + i)
            .set("digit", pixels(i, PIXEL_WIDTH * PIXEL_WIDTH)));
      }
      for (int i = 0; i < records; i++) {
        if (random.nextInt(records) > i) {
          worn.update(i, worn.newValues().set("blob", new byte[random.nextInt(2000)]));
        }
        if (random.nextInt(records) > 2 * i) {
          worn.update(i, worn.newValues().set("digit", pixels(i, PIXEL_WIDTH * PIXEL_WIDTH)));
        }
      }
      worn.commit();
    }
    StoreSnapshot.create(store, path);
    for (int i = 0; i < appends; i++) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(path.toString(), GALLERY, OPTIONS)) {
        append(writer.newAppender(), 5 * i, 5 * i + 20);
        writer.commit();
      }
    }
  }
}
