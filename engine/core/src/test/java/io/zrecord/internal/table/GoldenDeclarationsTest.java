package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.schema.Declarations;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What this release makes of {@link GoldenDeclarations}, and what it writes. */
final class GoldenDeclarationsTest {
  @TempDir
  Path directory;

  @Test
  void everyVersionHasItsDeclarations() {
    List<Declarations> declared =
        List.of(GoldenDeclarations.COMMENT, GoldenDeclarations.ALL, GoldenDeclarations.ALL);
    RecordTable table = RecordTable.at(LocalStorage.at(GoldenDeclarations.DIRECTORY));
    for (int version = 0; version < declared.size(); version++) {
      TableSnapshot snapshot = table.version(version);
      assertThat(snapshot.declarations()).isEqualTo(declared.get(version));
      snapshot.requireWritable();
    }
    assertThat(table.latest().schema().find("when").orElseThrow().rules().defaultSql())
        .isEqualTo("unix_micros(now())");
    assertThat(table.latest().schema().find("part").orElseThrow().rules().defaultSql())
        .isEqualTo("lower('TRAIN')");
  }

  @Test
  void itIsSound() {
    assertThat(DatasetCheck.of(GoldenDeclarations.DIRECTORY.toString())
            .allVersions()
            .run(finding -> {})
            .isSound())
        .isTrue();
  }

  @Test
  void itIsWrittenAgainByteForByte() throws IOException {
    Path again = directory.resolve("again");
    GoldenDeclarations.write(again);
    assertThat(files(again)).isEqualTo(files(GoldenDeclarations.DIRECTORY)).hasSizeGreaterThan(4);
    for (String file : files(again)) {
      assertThat(again.resolve(file))
          .hasSameBinaryContentAs(GoldenDeclarations.DIRECTORY.resolve(file));
    }
  }

  private static List<String> files(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> root.relativize(file).toString())
          .sorted()
          .toList();
    }
  }
}
