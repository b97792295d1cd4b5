package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.Tag;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The golden versions are read, and today's writer writes the same. */
final class GoldenVersionsTest {
  @TempDir
  Path directory;

  private static RecordTable table(String name) {
    return RecordTable.at(LocalStorage.at(GoldenVersions.DIRECTORY.resolve(name)));
  }

  /** Requires that a version has the values from 0 on. */
  private static void requireValues(TableSnapshot snapshot, int shards) {
    long[] indices = LongStream.range(0, (long) shards * GoldenVersions.RECORDS).toArray();
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      assertThat(dataset.length()).isEqualTo(indices.length);
      for (long index : indices) {
        assertThat(dataset.gather(new long[] {index}).value("value", 0).getLong(0))
            .isEqualTo(index);
      }
    }
  }

  private static void requireSound(String name) {
    assertThat(DatasetCheck.of(GoldenVersions.DIRECTORY.resolve(name).toString())
            .allVersions()
            .run(finding -> {})
            .isSound())
        .isTrue();
  }

  @Test
  void careKeepsTheRecords() {
    RecordTable table = table("care");
    assertThat(table.versions()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(table.versions().stream().map(version -> table.version(version).operation()))
        .containsExactly(
            "create", "append", "tag", "tag", "tag", "tag", "untag", "expire", "repair", "sweep");
    assertThat(table.tags()).extracting(Tag::name).containsExactly("also-first", "first", "second");
    assertThat(table.latest().recordsVersion()).isOne();
    requireValues(table.latest(), 2);
    requireValues(table.version(0), 1);
    requireValues(table.tagged("also-first"), 1);
    requireValues(table.tagged("second"), 2);
    requireSound("care");
  }

  @Test
  void aCreationThatWasTakenBackIsNoTable() {
    RecordTable table = table("retracted");
    assertThat(table.exists()).isFalse();
    assertThatThrownBy(table::latest).isInstanceOf(NotADatasetException.class);
    assertThatThrownBy(() -> table.version(0)).isInstanceOf(NotADatasetException.class);
    assertThatThrownBy(() -> table.version(1)).isInstanceOf(NotADatasetException.class);
    requireSound("retracted");
  }

  @Test
  void aTableIsCreatedAfterThat() {
    RecordTable table = table("created-again");
    assertThat(table.versions()).containsExactly(2L);
    requireValues(table.latest(), 1);
    requireSound("created-again");
  }

  @Test
  void aTableIsCreatedAfterADrop() {
    RecordTable table = table("dropped");
    assertThat(table.versions()).containsExactly(3L);
    requireValues(table.latest(), 1);
    requireSound("dropped");
  }

  @Test
  void todaysWriterWritesTheSameFiles() throws IOException {
    GoldenVersions.write(directory.resolve("versions"));
    Map<String, String> golden = files(GoldenVersions.DIRECTORY);
    assertThat(golden).hasSize(25);
    assertThat(files(directory.resolve("versions"))).isEqualTo(golden);
  }

  @Test
  void whatIsReadOfAManifestIsAllThatStandsInIt() throws IOException {
    for (String name : new String[] {"care", "retracted", "created-again", "dropped"}) {
      Path root = GoldenVersions.DIRECTORY.resolve(name);
      ManifestLog log = new ManifestLog(LocalStorage.at(root));
      assertThat(log.listed()).isNotEmpty();
      for (long version : log.listed()) {
        Path file = root.resolve(String.format("manifest/%020d.json", version));
        assertThat(log.read(version).write()).isEqualTo(Files.readAllBytes(file));
      }
    }
  }

  private static Map<String, String> files(Path root) throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : paths.filter(Files::isRegularFile).toList()) {
        files.put(
            root.relativize(path).toString().replace('\\', '/'),
            HexFormat.of().formatHex(Files.readAllBytes(path)));
      }
    }
    return files;
  }
}
