package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules of fields are for tables only. */
final class FieldRulesOfStoresTest {
  private static final int RECORDS = 3000;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("image", ElementType.BYTES)
      .field("label", ElementType.I32)
      .field("text", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.ZSTD))
      .build();
  private static final FieldSpec SCORE =
      new FieldSpec(1, "score", ElementType.F32, Shape.scalar(), Compression.RAW);
  private static final WriteOptions OPTIONS = WriteOptions.defaults();

  @TempDir
  Path directory;

  private Path path;
  private RecordTable table;
  private Map<String, Long> before;

  @BeforeEach
  void write() {
    path = directory.resolve("table");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), SCHEMA, OPTIONS)) {
      append(writer, 0, RECORDS);
      append(writer, RECORDS, 10);
      writer.commit();
    }
    table = RecordTable.at(LocalStorage.at(path));
    before = hashes();
  }

  private static void append(RecordDatasetWriter writer, int from, int count) {
    RecordAppender records = writer.newAppender();
    for (int i = from; i < from + count; i++) {
      records.set("image", image(i)).set("label", i);
      if (i % 3 != 0) {
        records.set("text", "text " + i);
      }
      records.endRecord();
    }
  }

  private static byte[] image(int i) {
    byte[] image = new byte[i % 700];
    Arrays.fill(image, (byte) i);
    return image;
  }

  @Test
  void aStoreHasNoRulesOfFields() {
    Path store = directory.resolve("store");
    RecordSchema schema =
        new RecordSchema(List.of(SCORE.withRules(FieldRules.NONE.withNullable(false))));
    assertThatThrownBy(() -> RecordStore.create(store, schema, StoreOptions.defaults()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'score'");
    assertThat(store).doesNotExist();
  }

  private Map<String, Long> hashes() {
    Map<String, Long> hashes = new TreeMap<>();
    try (Stream<Path> files = Files.walk(path)) {
      files.filter(Files::isRegularFile).forEach(file -> {
        CRC32C crc = new CRC32C();
        try {
          crc.update(Files.readAllBytes(file));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
        hashes.put(path.relativize(file).toString(), crc.getValue());
      });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return hashes;
  }
}
