package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.changes.RecordMoves;
import io.zrecord.changes.TableChanges;
import io.zrecord.internal.format.Origins;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.read.FieldReader;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The golden table whose versions move records to other partitions is read, in each version. */
final class GoldenMovesTest {
  private final Storage storage = LocalStorage.at(GoldenMoves.DIRECTORY);
  private final RecordTable table = RecordTable.at(storage);

  @TempDir
  Path directory;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, GoldenMoves.NEWEST})
  void everyRecordIsRead(int version) {
    try (RecordDataset dataset =
        RecordDataset.open(table.version(version), ReadOptions.defaults())) {
      int length = (int) dataset.length();
      FieldReader numbers = dataset.reader("number");
      FieldReader kinds = dataset.reader("kind");
      numbers.select(LongStream.range(0, length).toArray(), 0, length);
      kinds.select(LongStream.range(0, length).toArray(), 0, length);
      List<GoldenMoves.Item> found = new ArrayList<>();
      for (int i = 0; i < length; i++) {
        found.add(new GoldenMoves.Item(
            ByteBuffer.wrap(numbers.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong(),
            new String(kinds.value(i), StandardCharsets.UTF_8)));
      }
      assertThat(found).isEqualTo(GoldenMoves.items(version));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, GoldenMoves.NEWEST})
  void whatANewShardSaysIsRead(int version) throws IOException {
    JsonNode expected = expected(version);
    TableSnapshot snapshot = table.version(version);
    ShardSummary shard = snapshot.shards().get(snapshot.shards().size() - 1);
    assertThat(shard.id()).hasToString(expected.get("shard").textValue());
    Origins origins =
        TablesFile.open(storage, shard, shard.tables().get(0), kept -> {}).origins();
    assertThat(origins.shards())
        .extracting(UUID::toString)
        .isEqualTo(texts(expected.get("shards")));
    assertThat(origins.count()).isEqualTo(expected.get("slots").size());
    for (int i = 0; i < origins.count(); i++) {
      JsonNode place = expected.get("places").get(i);
      assertThat(origins.slot(i)).isEqualTo(expected.get("slots").get(i).longValue());
      assertThat(origins.place(i)).isEqualTo(place.get(0).longValue());
      assertThat(origins.shard(i)).isEqualTo(origins.shards().get(place.get(1).intValue()));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, GoldenMoves.NEWEST})
  void recordsThatWereMovedArePaired(int version) throws IOException {
    RecordMoves moves = TableChanges.of(storage).of(version).moves(storage);
    List<List<Integer>> found = new ArrayList<>();
    for (int i = 0; i < moves.count(); i++) {
      found.add(List.of((int) moves.before(i), (int) moves.after(i)));
    }
    List<List<Integer>> expected = new ArrayList<>();
    if (version >= 2) {
      expected(version)
          .get("pairs")
          .forEach(
              pair -> expected.add(List.of(pair.get(0).intValue(), pair.get(1).intValue())));
      assertThat(expected).hasSizeGreaterThanOrEqualTo(4);
    }
    assertThat(found).isEqualTo(expected);
  }

  private static JsonNode expected(int version) throws IOException {
    return new ObjectMapper()
        .readTree(Files.readAllBytes(GoldenMoves.MOVES))
        .get(Integer.toString(version));
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(text -> texts.add(text.textValue()));
    return texts;
  }

  @Test
  void aCheckFindsNothing() {
    assertThat(DatasetCheck.of(storage).allVersions().run(finding -> {}).isSound())
        .isTrue();
  }

  @Test
  void itIsWrittenAgainByteForByte() throws IOException {
    GoldenMoves.main(new String[] {directory.toString()});
    Path golden = GoldenMoves.DIRECTORY.getParent();
    assertThat(files(directory, "v2-moved"))
        .isEqualTo(files(golden, "v2-moved"))
        .hasSizeGreaterThan(15);
    for (String file : files(directory, "v2-moved")) {
      assertThat(directory.resolve(file)).hasSameBinaryContentAs(golden.resolve(file));
    }
  }

  private static List<String> files(Path root, String prefix) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> root.relativize(file).toString())
          .filter(name -> name.startsWith(prefix))
          .sorted()
          .toList();
    }
  }
}
