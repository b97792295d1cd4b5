package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.IndexMap;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The golden index map is read, and today's writer writes the same. */
final class GoldenIndexMapTest {
  @TempDir
  Path directory;

  @Test
  void theMapLeadsFromOneVersionToTheNext() {
    RecordTable table = RecordTable.at(LocalStorage.at(GoldenIndexMap.DIRECTORY));
    assertThat(table.version(0).indexMap()).isEmpty();
    assertThat(table.latest().operation()).isEqualTo("relayout");
    IndexMap map = table.latest().indexMap().orElseThrow();
    try (RecordDataset data = RecordDataset.open(GoldenIndexMap.DIRECTORY.toString())) {
      for (int i = 0; i < GoldenIndexMap.RECORDS; i++) {
        long index = map.newIndex(i);
        assertThat(index).isEqualTo(GoldenIndexMap.newIndex(i));
        assertThat(data.gather(new long[] {index}).value("value", 0).getLong(0)).isEqualTo(i);
      }
    }
    assertThat(DatasetCheck.of(GoldenIndexMap.DIRECTORY.toString())
            .allVersions()
            .run(finding -> {})
            .isSound())
        .isTrue();
  }

  @Test
  void todaysWriterWritesTheSameFiles() throws IOException {
    GoldenIndexMap.write(directory.resolve("table"));
    Map<String, String> golden = files(GoldenIndexMap.DIRECTORY);
    assertThat(golden).hasSize(8);
    assertThat(files(directory.resolve("table"))).isEqualTo(golden);
  }

  private static Map<String, String> files(Path root) throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : paths.filter(Files::isRegularFile).toList()) {
        byte[] content = Files.readAllBytes(path);
        files.put(
            root.relativize(path).toString().replace('\\', '/'),
            java.util.HexFormat.of().formatHex(content));
      }
    }
    return files;
  }
}
