package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.Tag;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The golden datasets are read, and today's writer writes the same. */
final class GoldenDatasetTest {
  private static final Path TABLE = GoldenDataset.DIRECTORY.resolve("table");

  @TempDir
  Path directory;

  private static ReadOptions options() {
    return new ReadOptions(Verification.ALWAYS, new ReadMetrics());
  }

  @Test
  void everyValueOfTheTableIsRead() {
    RecordTable table = RecordTable.at(LocalStorage.at(TABLE));
    assertThat(table.versions()).containsExactly(0L, 1L, 2L, 3L);
    assertThat(table.latest().transactions()).containsExactly(Map.entry("job-a", 17L));
    assertThat(table.version(1).properties()).containsEntry("applicationId", "golden \"1\"");
    assertThat(table.version(1).timestamp().toEpochMilli()).isEqualTo(1_790_000_000_001L);
    assertThat(table.tags())
        .containsExactly(new Tag("first", 0, Instant.ofEpochMilli(1_790_000_000_002L)));
    assertThat(table.tagged("first").version()).isZero();
    try (RecordDataset dataset = RecordDataset.open(table.version(0), options())) {
      assertThat(dataset.schema()).isEqualTo(GoldenDataset.RAW);
      requireValues(dataset, 0, GoldenDataset.RAW);
    }
    try (RecordDataset dataset = RecordDataset.open(table.latest(), options())) {
      int records = GoldenDataset.RECORDS;
      assertThat(dataset.length()).isEqualTo(3L * records);
      requireValues(dataset, 0, GoldenDataset.RAW);
      requireValues(dataset, records, GoldenDataset.RAW);
      requireValues(dataset, 2 * records, GoldenDataset.COMPRESSED);
      requireAbsent(dataset, 0, 2 * records, GoldenDataset.COMPRESSED);
      requireAbsent(dataset, 2 * records, records, GoldenDataset.RAW);
    }
  }

  @Test
  void everyValueOfTheTableWithoutChecksumsIsRead() {
    Path unchecked = GoldenDataset.DIRECTORY.resolve("unchecked");
    try (RecordDataset dataset = RecordDataset.open(unchecked.toString())) {
      assertThat(dataset.length()).isEqualTo(GoldenDataset.RECORDS);
      assertThat(dataset.schema()).isEqualTo(GoldenDataset.RAW);
      requireValues(dataset, 0, GoldenDataset.RAW);
    }
  }

  @Test
  void everyValueThatAStoreLeftIsRead() {
    Path entries = GoldenDataset.DIRECTORY.resolve("entries");
    try (RecordDataset dataset =
        RecordDataset.open(RecordTable.at(LocalStorage.at(entries)).latest(), options())) {
      requireValues(dataset, 0, GoldenDataset.RAW);
    }
    assertThat(DatasetCheck.of(entries.toString()).run(finding -> {}).isSound()).isTrue();
  }

  private static void requireValues(RecordDataset dataset, int first, RecordSchema schema) {
    for (FieldSpec field : schema.fields()) {
      FieldReader reader = dataset.reader(field.name());
      assertThat(reader.field()).isEqualTo(field);
      assertThat(reader.selectRange(first, GoldenDataset.RECORDS, Long.MAX_VALUE))
          .isEqualTo(GoldenDataset.RECORDS);
      for (int i = 0; i < GoldenDataset.RECORDS; i++) {
        Optional<byte[]> expected = GoldenDataset.value(field, i);
        String place = field.name() + " of record " + (first + i);
        assertThat(reader.isAbsent(i)).as(place).isEqualTo(expected.isEmpty());
        assertThat(reader.value(i)).as(place).isEqualTo(expected.orElse(new byte[0]));
      }
    }
  }

  private static void requireAbsent(
      RecordDataset dataset, int first, int count, RecordSchema schema) {
    for (FieldSpec field : schema.fields()) {
      FieldReader reader = dataset.reader(field.name());
      assertThat(reader.selectRange(first, count, Long.MAX_VALUE)).isEqualTo(count);
      for (int i = 0; i < count; i++) {
        assertThat(reader.isAbsent(i)).isTrue();
      }
    }
  }

  @Test
  void todaysWriterWritesTheSameFiles() throws IOException {
    GoldenDataset.write(directory.resolve("v2"));
    Map<String, byte[]> golden = files(GoldenDataset.DIRECTORY);
    Map<String, byte[]> written = files(directory.resolve("v2"));
    assertThat(written.keySet()).isEqualTo(golden.keySet());
    golden.forEach((name, content) -> {
      if (!dependsOnCompressors(name)) {
        assertThat(written.get(name)).as(name).isEqualTo(content);
      }
    });
    assertThat(golden.values().stream().mapToLong(content -> content.length).sum())
        .isLessThan(480 << 10);
  }

  /**
   * Returns whether a file depends on compressors: compressed bytes may differ from one release of
   * a compressor to the next, but what is decoded may not. The manifests that are left name them.
   */
  private static boolean dependsOnCompressors(String name) {
    return name.contains(GoldenDataset.COMPRESSED_SHARD.toString()) || name.contains("/manifest/");
  }

  @Test
  void whatIsReadOfAManifestIsAllThatStandsInIt() throws IOException {
    for (long version : new long[] {1, 2, 3}) {
      Manifest manifest = new ManifestLog(LocalStorage.at(TABLE)).read(version);
      Path file = TABLE.resolve(String.format("manifest/%020d.json", version));
      assertThat(manifest.write()).isEqualTo(Files.readAllBytes(file));
    }
  }

  @Test
  void everyDtypeAndCodecIsThere() {
    assertThat(GoldenDataset.RAW.fields())
        .extracting(field -> field.type().kind())
        // Nested values have a file of their own, golden/v2-nested.json.
        .containsAll(EnumSet.complementOf(EnumSet.of(io.zrecord.schema.ElementType.Kind.NESTED)));
    assertThat(Stream.concat(
            GoldenDataset.RAW.fields().stream(), GoldenDataset.COMPRESSED.fields().stream()))
        .extracting(field -> field.compression().codec())
        .contains(Codec.values());
  }

  private static Map<String, byte[]> files(Path root) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : paths.filter(Files::isRegularFile).toList()) {
        files.put(root.relativize(path).toString().replace('\\', '/'), Files.readAllBytes(path));
      }
    }
    return files;
  }
}
