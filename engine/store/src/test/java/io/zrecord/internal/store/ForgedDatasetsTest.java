package io.zrecord.internal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.store.StoreSnapshot;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Forged datasets have the verdicts that Python's reader comes to as well. */
final class ForgedDatasetsTest {
  @TempDir
  Path directory;

  /** A dataset with its verdict: the texts of its records, or null for damage. */
  private record Forged(String name, @Nullable List<@Nullable String> texts) {
    boolean isStore() {
      return name.startsWith("store-");
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static List<Forged> datasets() throws IOException {
    List<Forged> datasets = new ArrayList<>();
    JsonNode verdicts = ForgedDatasets.verdicts();
    for (Iterator<String> names = verdicts.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      List<@Nullable String> texts = null;
      if (verdicts.get(name).get("verdict").textValue().equals("sound")) {
        texts = new ArrayList<>();
        for (JsonNode text : verdicts.get(name).get("values").path("text")) {
          texts.add(text.textValue());
        }
      }
      datasets.add(new Forged(name, texts));
    }
    return datasets;
  }

  private static List<@Nullable String> texts(Batch batch) {
    List<@Nullable String> texts = new ArrayList<>();
    for (int i = 0; i < batch.count(); i++) {
      texts.add(
          batch.isAbsent("text", i)
              ? null
              : new String(batch.bytes("text", i), StandardCharsets.UTF_8));
    }
    return texts;
  }

  private static long[] all(long length) {
    return LongStream.range(0, length).toArray();
  }

  private void judge(Forged forged, Reading reading) throws Exception {
    if (forged.texts != null) {
      assertThat(reading.read()).isEqualTo(forged.texts);
    } else {
      ThrowingCallable reads = reading::read;
      assertThatThrownBy(reads)
          .isInstanceOfAny(CorruptDataException.class, TruncatedFileException.class);
    }
  }

  /** Reads all texts. */
  private interface Reading {
    List<@Nullable String> read() throws Exception;
  }

  private Path copy(Forged forged) {
    Path from = ForgedDatasets.DIRECTORY.resolve(forged.name);
    Path copy = Damage.copy(from, directory.resolve(forged.name));
    // Tokens as they were forged.
    try (DirectoryStream<Path> tokens = Files.newDirectoryStream(from, "writer-*")) {
      for (Path token : tokens) {
        Files.write(copy.resolve(token.getFileName().toString()), Files.readAllBytes(token));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return copy;
  }

  private static List<@Nullable String> read(RecordDataset dataset) {
    List<String> fields =
        dataset.schema().fields().stream().map(field -> field.name()).toList();
    try (dataset;
        Batch batch = dataset.gather(all(dataset.length()))) {
      return fields.contains("text") ? texts(batch) : List.of();
    }
  }

  @ParameterizedTest
  @MethodSource("datasets")
  void everyReaderComesToTheVerdict(Forged forged) throws Exception {
    Path path = copy(forged);
    for (Verification verification : Verification.values()) {
      ReadOptions options = new ReadOptions(verification, new ReadMetrics());
      Path table = directory.resolve("table-" + verification);
      judge(
          forged,
          () -> read(
              forged.isStore()
                  ? RecordDataset.open(StoreSnapshot.create(path, table), options)
                  : RecordDataset.open(LocalStorage.at(path), options)));
    }
  }

  @ParameterizedTest
  @MethodSource("datasets")
  void theWriterOfAStoreComesToTheVerdict(Forged forged) throws Exception {
    // A writer replaces a damaged `live`.
    if (forged.isStore() && !forged.name.startsWith("store-live-")) {
      Path path = copy(forged);
      judge(forged, () -> {
        try (RecordStore store = RecordStore.open(path, StoreOptions.defaults());
            Batch batch = store.gather(all(store.length()))) {
          return texts(batch);
        }
      });
    }
  }

  /** Counts are for a check to compare, so not all that can be read is sound. */
  @ParameterizedTest
  @MethodSource("datasets")
  void aCheckFindsAllDamage(Forged forged) {
    boolean isSound =
        DatasetCheck.of(copy(forged).toString()).run(finding -> {}).isSound();
    assertThat(isSound)
        .isEqualTo(forged.texts != null
            && !forged.name.equals("texts-present-without-bytes")
            && !forged.name.equals("texts-absent-and-empty")
            && !forged.name.equals("store-without-live"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "replaced-list-control",
        "replaced-list-by-a-shard-of-the-list-that-is-replaced",
        "replaced-list-by-a-shard-of-a-list-that-has-it-no-more",
        "replaced-list-in-a-partition-and-replaced"
      })
  void aChangeGoesByTheShardsThatStandInTheEnd(String name) {
    Path path = Damage.copy(ForgedDatasets.DIRECTORY.resolve(name), directory.resolve(name));
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    List<@Nullable String> texts = read(table.latest());
    RowChange change = RowChange.of(table.latest());
    change.delete(texts.indexOf("g"));
    change.commit();
    texts.remove("g");
    assertThat(read(table.latest())).isEqualTo(texts);
  }

  private static List<@Nullable String> read(TableSnapshot snapshot) {
    return read(RecordDataset.open(snapshot, ReadOptions.defaults()));
  }

  @Test
  void theFilesAreThoseThatAreForgedNow() throws IOException {
    ForgedDatasets.write(directory.resolve("forged"));
    assertThat(files(directory.resolve("forged"))).isEqualTo(files(ForgedDatasets.DIRECTORY));
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
