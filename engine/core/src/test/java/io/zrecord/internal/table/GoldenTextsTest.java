package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class GoldenTextsTest {
  @TempDir
  Path directory;

  @Test
  void everyTextIsRead() {
    try (RecordDataset dataset = RecordDataset.open(GoldenTexts.DIRECTORY.toString());
        Batch batch = dataset.gather(new long[] {0, 1, 2, 3, 4}, "text")) {
      List<@Nullable String> texts = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        texts.add(
            batch.isAbsent("text", i)
                ? null
                : new String(batch.bytes("text", i), StandardCharsets.UTF_8));
      }
      assertThat(texts).isEqualTo(GoldenTexts.TEXTS);
    }
    assertThat(
            DatasetCheck.of(GoldenTexts.DIRECTORY.toString()).run(finding -> {}).isSound())
        .isTrue();
  }

  @Test
  void todaysWriterWritesTheSameFiles() throws IOException {
    GoldenTexts.write(directory.resolve("table"));
    Map<String, String> golden = files(GoldenTexts.DIRECTORY);
    assertThat(golden).hasSize(3);
    assertThat(files(directory.resolve("table"))).isEqualTo(golden);
  }

  private static Map<String, String> files(Path root) throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : paths.filter(Files::isRegularFile).toList()) {
        files.put(
            root.relativize(path).toString(), HexFormat.of().formatHex(Files.readAllBytes(path)));
      }
    }
    return files;
  }
}
