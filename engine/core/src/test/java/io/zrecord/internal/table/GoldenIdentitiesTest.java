package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.schema.IdentityRange;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What this release makes of {@link GoldenIdentities}, and what it writes. */
final class GoldenIdentitiesTest {
  @TempDir
  Path directory;

  @Test
  void everyVersionHasItsIdentities() {
    RecordTable table = RecordTable.at(LocalStorage.at(GoldenIdentities.DIRECTORY));
    for (int version = 0; version < GoldenIdentities.IDENTITIES.size(); version++) {
      TableSnapshot snapshot = table.version(version);
      assertThat(snapshot.declarations().identities())
          .isEqualTo(GoldenIdentities.IDENTITIES.get(version));
      snapshot.requireWritable();
    }
  }

  @Test
  void itIsSoundAndCountsOn() throws IOException {
    assertThat(DatasetCheck.of(GoldenIdentities.DIRECTORY.toString())
            .allVersions()
            .run(finding -> {})
            .isSound())
        .isTrue();
    MemoryStorage copy = new MemoryStorage();
    for (String file : files(GoldenIdentities.DIRECTORY)) {
      copy.overwrite(file, Files.readAllBytes(GoldenIdentities.DIRECTORY.resolve(file)));
    }
    RecordTable table = RecordTable.at(copy);
    IdentityRange range =
        table.reserve(table.latest().declarations().identity(1).orElseThrow(), 2);
    assertThat(range.first()).isEqualTo(34);
    assertThat(range.valueAt(1)).isEqualTo(37);
  }

  @Test
  void itIsWrittenAgainByteForByte() throws IOException {
    Path again = directory.resolve("again");
    GoldenIdentities.write(again);
    assertThat(files(again)).isEqualTo(files(GoldenIdentities.DIRECTORY)).hasSizeGreaterThan(6);
    for (String file : files(again)) {
      assertThat(again.resolve(file))
          .hasSameBinaryContentAs(GoldenIdentities.DIRECTORY.resolve(file));
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
