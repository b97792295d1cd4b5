package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.findings.Finding;
import io.zrecord.read.IndexSet;
import io.zrecord.shard.ShardSummary;
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

class GoldenListsTest {
  @TempDir
  Path directory;

  @Test
  void theFilesAreWrittenByteForByte() throws IOException {
    GoldenLists.write(directory);
    assertThat(contents(directory)).isEqualTo(contents(GoldenLists.DIRECTORY));
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

  @Test
  void allRecordsAreRead() {
    long[] indices = LongStream.range(0, 15).toArray();
    try (RecordDataset dataset = RecordDataset.open(GoldenLists.DIRECTORY.toString());
        Batch batch = dataset.gather(indices, "value")) {
      assertThat(dataset.length()).isEqualTo(15);
      for (int i = 0; i < indices.length; i++) {
        assertThat(batch.bytes("value", i)).containsExactly(i, 0, 0, 0);
      }
    }
  }

  @Test
  void partitionsAreRead() {
    TableSnapshot snapshot =
        RecordTable.at(LocalStorage.at(GoldenLists.DIRECTORY)).latest();
    assertThat(snapshot.shards())
        .extracting(ShardSummary::partition)
        .containsExactlyElementsOf(GoldenLists.PARTITIONS);
    assertThat(snapshot.indicesOf(partition -> partition.contains("2026-01-02")))
        .isEqualTo(IndexSet.range(3, 9));
  }

  @Test
  void theTableIsSound() {
    List<Finding> findings = new ArrayList<>();
    assertThat(
            DatasetCheck.of(GoldenLists.DIRECTORY.toString()).run(findings::add).isSound())
        .isTrue();
    assertThat(findings).isEmpty();
  }
}
