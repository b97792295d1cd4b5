package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.findings.Finding;
import io.zrecord.inspect.TableHistory;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GoldenReplacedTest {
  @TempDir
  Path directory;

  @Test
  void theFilesAreWrittenByteForByte() throws IOException {
    GoldenReplaced.main(new String[] {directory.toString()});
    assertThat(contents(directory.resolve("v2-replaced")))
        .isEqualTo(contents(GoldenReplaced.DIRECTORY));
    assertThat(directory.resolve("v2-replaced-values.json"))
        .hasSameTextualContentAs(
            GoldenReplaced.DIRECTORY.resolveSibling("v2-replaced-values.json"));
  }

  private static Map<String, String> contents(Path root) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    try (var files = Files.walk(root)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        contents.put(
            root.relativize(file).toString(), HexFormat.of().formatHex(Files.readAllBytes(file)));
      }
    }
    return contents;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void eachVersionHasItsRecords(int version) {
    List<String> expected = GoldenReplaced.VERSIONS.get(version).stream()
        .flatMap(shard -> GoldenReplaced.TEXTS.get(shard).stream())
        .toList();
    TableSnapshot snapshot =
        RecordTable.at(LocalStorage.at(GoldenReplaced.DIRECTORY)).version(version);
    // By each index alone, so that only the lists are read that lead to a shard.
    for (int i = 0; i < expected.size(); i++) {
      int ordinal = snapshot.shardOf(i);
      assertThat(snapshot.firstIndex(ordinal)).isLessThanOrEqualTo(i);
      assertThat(snapshot.firstIndex(ordinal + 1)).isGreaterThan(i);
    }
    try (RecordDataset dataset =
            RecordDataset.open(snapshot, RecordDataset.ReadOptions.defaults());
        Batch batch = dataset.gather(LongStream.range(0, dataset.length()).toArray(), "text")) {
      List<String> texts = new ArrayList<>();
      for (int i = 0; i < batch.count(); i++) {
        texts.add(new String(batch.bytes("text", i), UTF_8));
      }
      assertThat(texts).isEqualTo(expected);
    }
  }

  @Test
  void allListsOfAVersionAreNamed() {
    assertThat(TableHistory.of(LocalStorage.at(GoldenReplaced.DIRECTORY)).files(1))
        .hasSize(5);
  }

  /** The shard 6 stands in a list of lists only, where every version has another above it. */
  @Test
  void theTableIsSoundAndNeedsAllFilesButThoseOfAShardThatNoVersionHas() {
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(GoldenReplaced.DIRECTORY.toString())
            .run(findings::add)
            .isSound())
        .isTrue();
    assertThat(findings).singleElement().satisfies(finding -> {
      assertThat(finding.kind()).isEqualTo(Finding.Kind.ORPHAN);
      assertThat(finding.file()).endsWith("shard/00000007-0000-4000-8000-000000000700");
    });
  }
}
