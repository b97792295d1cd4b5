package io.zrecord.internal.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.store.JournalProbe;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.store.StoreSnapshot;
import io.zrecord.verify.Damage;
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
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The golden stores are read by whatever reads stores, and today's writer writes the same. */
final class GoldenStoresTest {
  private static final Map<String, List<String>> EXPECTED = Map.of(
      "clean", List.of("1 uno", "4 four", "absent "),
      "replay", List.of("7 one", "2 absent", "3 three"),
      "torn", List.of("1 one", "2 absent", "3 three"));

  @TempDir
  Path directory;

  private Path copy(String name) {
    return Damage.copy(GoldenStores.DIRECTORY.resolve(name), directory.resolve(name));
  }

  private static List<String> records(Batch batch) {
    List<String> records = new ArrayList<>();
    for (int i = 0; i < batch.count(); i++) {
      String id = batch.isAbsent("id", i) ? "absent" : "" + batch.value("id", i).getLong(0);
      String text = batch.isAbsent("text", i)
          ? "absent"
          : new String(batch.bytes("text", i), StandardCharsets.UTF_8);
      records.add(id + " " + text);
    }
    return records;
  }

  private static long[] all(long length) {
    return LongStream.range(0, length).toArray();
  }

  @ParameterizedTest
  @ValueSource(strings = {"clean", "replay", "torn"})
  void openingFindsTheRecords(String name) {
    Path path = copy(name);
    for (int opening = 0; opening < 2; opening++) {
      try (RecordStore store = RecordStore.open(path, StoreOptions.defaults());
          Batch batch = store.gather(all(store.length()))) {
        assertThat(records(batch)).isEqualTo(EXPECTED.get(name));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"clean", "replay", "torn"})
  void aSnapshotHasTheRecords(String name) {
    Path table = directory.resolve("table");
    try (RecordDataset dataset =
            RecordDataset.open(StoreSnapshot.create(copy(name), table), ReadOptions.defaults());
        Batch batch = dataset.gather(all(dataset.length()))) {
      assertThat(records(batch)).isEqualTo(EXPECTED.get(name));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"clean", "replay", "torn"})
  void aCheckFindsNoDamage(String name) {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(copy(name).toString()).run(findings::add);
    if (name.equals("torn")) {
      assertThat(findings).extracting(Finding::kind).containsExactly(Finding.Kind.NOTE);
    } else {
      assertThat(findings).isEmpty();
    }
  }

  @Test
  void onlyTheJournalHasTheValuesOfTheCommits() throws IOException {
    JournalProbe journal = new JournalProbe(GoldenStores.DIRECTORY.resolve("replay"));
    byte[] chunk = Files.readAllBytes(GoldenStores.DIRECTORY.resolve("replay/chunk/0.zr"));
    assertThat(journal.records()).hasSize(2);
    for (JournalRecord record : journal.records()) {
      JournalChunk carrying = record.chunks().get(0);
      assertThat(carrying.carried().hasRemaining()).isTrue();
      for (long at = carrying.carriedFrom(); at < carrying.meta().endBytes(); at++) {
        assertThat(chunk[(int) at]).isZero();
      }
    }
  }

  @Test
  void todaysWriterWritesTheSameFiles() throws IOException {
    GoldenStores.write(directory.resolve("stores"));
    Map<String, String> golden = files(GoldenStores.DIRECTORY);
    assertThat(golden).hasSize(3 * 8);
    assertThat(files(directory.resolve("stores"))).isEqualTo(golden);
  }

  @Test
  void whatIsReadOfAMetaFileIsAllThatStandsInIt() throws IOException {
    for (String name : EXPECTED.keySet()) {
      Path root = GoldenStores.DIRECTORY.resolve(name);
      assertThat(StoreMetaFile.read(new LocalMutableFiles(root)).write())
          .isEqualTo(Files.readAllBytes(root.resolve("meta.json")));
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
