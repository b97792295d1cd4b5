package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.findings.Finding;
import io.zrecord.inspect.DatasetFile;
import io.zrecord.inspect.TableHistory;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.SplitSizing;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Manifests that name lists of lists: what is read, what is written, and what is found. */
final class ListsOfListsTest {
  @TempDir
  Path directory;

  private final AtomicLong written = new AtomicLong();
  private CountingStorage storage;
  private RecordTable table;
  private ManifestLog log;

  @BeforeEach
  void open() {
    open(LocalStorage.at(directory));
  }

  private void open(Storage uncounted) {
    storage = new CountingStorage(uncounted, written);
    table = RecordTable.at(storage);
    log = new ManifestLog(storage);
  }

  private List<String> listsRead() {
    List<String> lists =
        storage.read.stream().filter(name -> name.startsWith("list/")).toList();
    storage.read.clear();
    return lists;
  }

  private Set<String> files() {
    Set<String> files = new TreeSet<>();
    storage.list("list").forEach(file -> files.add("list/" + file.name()));
    return files;
  }

  /** Makes a table of 100 lists of one shard and 999 shards, and appends shards. */
  private List<ShardSummary> fold(int appended) {
    open(new MemoryStorage());
    SimulatedTables.publishShortLists(
        storage, 100, 999, number -> SimulatedTables.shard(number, 1));
    List<ShardSummary> expected = new ArrayList<>(table.latest().shards());
    for (int i = 0; i < appended; i++) {
      ShardSummary added = Shards.write(storage, Shards.SCHEMA, i);
      expected.add(added);
      table.commit(Shards.append(Shards.newest(table), added));
    }
    return expected;
  }

  @Test
  void theOldestListsGoToAListOfLists() {
    List<ShardSummary> expected = fold(2);
    Manifest newest = log.newest().orElseThrow();
    assertThat(newest.lists()).extracting(ShardListFile::level).containsExactly(2);
    assertThat(newest.lists()).extracting(ShardListFile::shardCount).containsExactly(1100);
    assertThat(newest.shards()).hasSize(1);
    assertThat(table.latest().shards()).isEqualTo(expected).hasSize(1101);
    assertThat(table.latest().length()).isEqualTo(1_099_002);
    for (int ordinal : new int[] {0, 1, 99, 100, 1099, 1100}) {
      long first = table.latest().firstIndex(ordinal);
      assertThat(table.latest().shardOf(first)).isEqualTo(ordinal);
      assertThat(table.latest().shards().get(ordinal)).isEqualTo(expected.get(ordinal));
    }
    assertThat(table.latest().firstIndex(1101)).isEqualTo(1_099_002);
  }

  @Test
  void listsAreReadWhenAShardIsWanted() {
    ofLongLists();
    listsRead();
    TableSnapshot snapshot = table.latest();
    assertThat(snapshot.length()).isEqualTo(2_403_000);
    assertThat(snapshot.shards()).hasSize(2403);
    assertThat(snapshot.shardOf(2_402_999)).isEqualTo(2402);
    assertThat(listsRead()).isEmpty();

    ShardSummary shard = snapshot.shards().get(snapshot.shardOf(500_500));
    assertThat(shard).isEqualTo(shard(500));
    assertThat(listsRead()).hasSize(2);
    assertThat(snapshot.shards().get(500)).isSameAs(shard);
    assertThat(listsRead()).isEmpty();

    ScanPlan.divide(
        snapshot, Shards.SCHEMA.fields(), IndexSet.range(599_000, 602_000), SplitSizing.exactly(2));
    assertThat(listsRead()).hasSize(1);
    snapshot.loadShards(IndexSet.range(0, Long.MAX_VALUE));
    assertThat(listsRead()).hasSize(3).doesNotHaveDuplicates();
  }

  @Test
  void aCommitWritesWhatChanges() {
    fold(2);
    ShardSummary added = Shards.write(storage, Shards.SCHEMA, 1);
    written.set(0);
    table.commit(Shards.append(Shards.newest(table), added));
    // A manifest of two shards and a list of lists, and the hint.
    assertThat(written.get()).isLessThan(4_000);
  }

  /** Makes a table of a list of two lists of 600 shards, of such a list again, and of 3 shards. */
  private List<ShardSummary> ofLongLists() {
    List<ShardListFile> of = new ArrayList<>();
    for (int first = 0; first < 2400; first += 1200) {
      List<ShardListFile> members = new ArrayList<>();
      for (int number = first; number < first + 1200; number += 600) {
        members.addAll(log.writeLists(
            IntStream.range(number, number + 600)
                .mapToObj(ListsOfListsTest::shard)
                .toList(),
            new ArrayList<>()));
      }
      of.add(log.writeListOfLists(members, new ArrayList<>()));
    }
    SimulatedTables.publish(
        log, of, IntStream.range(2400, 2403).mapToObj(ListsOfListsTest::shard).toList());
    return new ArrayList<>(table.latest().shards());
  }

  private static ShardSummary shard(int number) {
    return SimulatedTables.shard(number, 1);
  }

  @Test
  void aRebalanceOfAShardInAListOfListsWritesNoList() {
    List<ShardSummary> expected = ofLongLists();
    List<ShardListFile> before = log.newest().orElseThrow().lists();
    Set<String> files = files();
    ShardSummary replacement = zeros(1000);
    commitReplacement(expected.get(700), replacement);
    expected.set(700, replacement);
    assertThat(files()).isEqualTo(files);
    assertThat(table.latest().shards()).isEqualTo(expected);
    assertThat(table.latest().length()).isEqualTo(2_403_000);
    List<ShardListFile> after = log.newest().orElseThrow().lists();
    assertThat(after)
        .extracting(ShardListFile::file)
        .isEqualTo(before.stream().map(ShardListFile::file).toList());
    assertThat(after.get(0).replaced().ordinals()).containsExactly(700);
    assertThat(after.get(1)).isEqualTo(before.get(1));
    assertThat(table.version(0).shards().get(700)).isEqualTo(shard(700));
  }

  /** Neither is read after the last replaced shard, nor written again. */
  @Test
  void aRebalanceTakesOtherListsOfListsOver() {
    List<ShardSummary> expected = ofLongLists();
    List<ShardListFile> before = log.newest().orElseThrow().lists();
    for (int ordinal : new int[] {10, 2402}) {
      ShardSummary replacement = zeros(1000);
      listsRead();
      commitReplacement(expected.get(ordinal), replacement);
      expected.set(ordinal, replacement);
      assertThat(listsRead()).doesNotHaveDuplicates().hasSize(ordinal == 10 ? 2 : 6);
      assertThat(table.latest().shards()).isEqualTo(expected);
    }
    assertThat(log.newest().orElseThrow().lists()).hasSize(2).endsWith(before.get(1));
  }

  private ShardSummary zeros(int count) {
    return Shards.write(storage, Shards.SCHEMA, new long[count]);
  }

  private void commitReplacement(ShardSummary removed, ShardSummary added) {
    TableSnapshot base = table.latest();
    table.commit(TableChange.rebalance(
        base,
        base.version(),
        Shards.SCHEMA,
        List.of(new TableChange.Replacement(List.of(removed), List.of(added))),
        Map.of()));
  }

  /** Makes a table whose shards have files: one shard again and again, and others at the end. */
  private List<ShardSummary> foldReal() {
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 1, 2);
    ShardSummary other = Shards.write(storage, Shards.SCHEMA, 3, 4);
    List<ShardListFile> members = new ArrayList<>();
    for (int number = 0; number < 10; number++) {
      members.addAll(log.writeLists(List.of(number == 7 ? other : shard), new ArrayList<>()));
    }
    ShardListFile of = log.writeListOfLists(members, new ArrayList<>());
    SimulatedTables.publish(log, List.of(of), Collections.nCopies(1000, shard));
    table.commit(Shards.append(OptionalLong.of(0), shard));
    return List.copyOf(table.latest().shards());
  }

  private ShardListFile listOfLists() {
    return log.newest().orElseThrow().lists().get(0);
  }

  @Test
  void listsThatNoVersionNamesAreSweptAndOthersStay() {
    List<ShardSummary> expected = foldReal();
    assertThat(listOfLists().isOfLists()).isTrue();
    // Without version 0, only the list of lists names the ten lists.
    LaterTable.expire(storage, 1);
    Set<String> needed = files();
    assertThat(needed).hasSize(12);
    storage.publish("list/" + UUID.randomUUID() + ".json", new byte[] {1});
    LaterTable.of(storage).sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {});
    assertThat(files()).isEqualTo(needed);
    assertThat(table.latest().shards()).isEqualTo(expected);
    assertThat(RecordDataset.open(table.latest(), RecordDataset.ReadOptions.defaults())
            .length())
        .isEqualTo(2022);
  }

  @Test
  void valuesOfListedShardsAreGathered() {
    foldReal();
    RecordDataset dataset =
        RecordDataset.open(table.latest(), RecordDataset.ReadOptions.defaults());
    long[] indices = {0, 14, 15, 16, 2019, 2021};
    try (Batch batch = dataset.gather(indices)) {
      List<Long> values = new ArrayList<>();
      for (int i = 0; i < indices.length; i++) {
        values.add((long) batch.bytes("value", i)[0]);
      }
      assertThat(values).containsExactly(1L, 3L, 4L, 1L, 2L, 2L);
    }
  }

  @Test
  void aSoundTableIsVerified() throws IOException {
    foldReal();
    LaterTable.expire(storage, 1);
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(directory.toString()).run(findings::add).isSound())
        .isTrue();
    assertThat(findings).isEmpty();
    TableHistory.of(storage).files(table.latest().version()).stream()
        .map(DatasetFile::name)
        .filter(name -> name.startsWith("list/"))
        .forEach(name -> assertThat(files()).contains(name));
    assertThat(TableHistory.of(storage).files(table.latest().version())).hasSize(13);
  }

  /** Each of the files is whole and sealed, and has as many shards and records. */
  @Test
  void twoListsThatAreExchangedAreFound() throws IOException {
    foldReal();
    List<ShardListFile> members = log.members(listOfLists());
    Path first = directory.resolve(members.get(0).file());
    Path eighth = directory.resolve(members.get(7).file());
    assertThat(Files.size(first)).isEqualTo(Files.size(eighth));
    Path aside = directory.resolve("aside");
    Files.move(first, aside);
    Files.move(eighth, first);
    Files.move(aside, eighth);
    TableSnapshot snapshot = table.latest();
    assertThat(snapshot.shards().get(1).length()).isEqualTo(2);
    assertThatThrownBy(() -> snapshot.shards().get(0))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(first.toString())
        .hasMessageContaining("the manifest says");
    assertThat(DatasetCheck.of(directory.toString()).run(finding -> {}).isSound())
        .isFalse();
  }

  /** The control: if what names the lists is exchanged with them, other records are read. */
  @Test
  void withoutTheBindingAnExchangeIsNotFound() throws IOException {
    List<ShardSummary> expected = foldReal();
    rewriteListOfLists(lists -> {
      ObjectNode first = (ObjectNode) lists.get(0);
      String file = first.get("file").textValue();
      ObjectNode eighth = (ObjectNode) lists.get(7);
      first.setAll(eighth.deepCopy());
      eighth.put("file", file);
      eighth.put("crc", crcOf(file));
    });
    assertThat(table.latest().shards().get(0)).isEqualTo(expected.get(7));
    assertThat(table.latest().shards().get(7)).isEqualTo(expected.get(0));
  }

  private String crcOf(String list) {
    return HexFormat.of()
        .toHexDigits(SealedJson.checksum(list, storage.read(list, SealedJson.MAX_BYTES)));
  }

  /** Changes the list of lists, and binds it and the manifest to the change. */
  private void rewriteListOfLists(Consumer<ArrayNode> change) throws IOException {
    ShardListFile list = listOfLists();
    ObjectNode node = parsed(list.file());
    change.accept((ArrayNode) node.get("lists"));
    byte[] content = SealedJson.seal(node);
    Files.write(directory.resolve(list.file()), content);
    String manifest = ManifestNames.nameOf(log.newest().orElseThrow().version());
    ObjectNode newest = parsed(manifest);
    ObjectNode entry = (ObjectNode) newest.get("lists").get(0);
    entry.put("bytes", content.length).put("crc", crcOf(list.file()));
    Files.write(directory.resolve(manifest), SealedJson.seal(newest));
  }

  private ObjectNode parsed(String file) throws IOException {
    ObjectNode node =
        (ObjectNode) new ObjectMapper().readTree(Files.readAllBytes(directory.resolve(file)));
    node.remove("crc32c");
    return node;
  }

  @Test
  void whatIsWrongInAListOfListsIsFound() throws IOException {
    foldReal();
    ShardListFile list = listOfLists();
    Path file = directory.resolve(list.file());
    byte[] sound = Files.readAllBytes(file);

    requireCorrupt(file, sound, lists -> lists.remove(3), "it has 9 shards, but the manifest");
    requireCorrupt(file, sound, lists -> put(lists, "level", 2), "two levels at most");
    requireCorrupt(file, sound, lists -> put(lists, "length", 3), "says 10 with 20 records");
    requireCorrupt(file, sound, lists -> put(lists, "level", 3), "an integer from 1 to 2");

    Files.write(file, sound);
    requireCorrupt("but the manifest says");
    Files.delete(file);
    assertThatThrownBy(() -> table.latest().shards().get(3))
        .isInstanceOf(MissingFileException.class)
        .hasMessageContaining(file.toString());
  }

  private static void put(ArrayNode lists, String member, int value) {
    ((ObjectNode) lists.get(3)).put(member, value);
  }

  private void requireCorrupt(Path file, byte[] sound, Consumer<ArrayNode> change, String message)
      throws IOException {
    Files.write(file, sound);
    rewriteListOfLists(change);
    requireCorrupt(message);
  }

  private void requireCorrupt(String message) {
    assertThatThrownBy(() -> table.latest().shards().get(3))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(listOfLists().file())
        .hasMessageContaining(message);
    assertThat(DatasetCheck.of(directory.toString()).run(finding -> {}).isSound())
        .isFalse();
  }

  @Test
  void moreShardsThanAnIntegerCountsAreDamage() throws IOException {
    ofLongLists();
    String name = ManifestNames.nameOf(0);
    ObjectNode manifest = parsed(name);
    for (int i = 0; i < 2; i++) {
      ((ObjectNode) manifest.get("lists").get(i)).put("shards", Integer.MAX_VALUE);
    }
    Files.write(directory.resolve(name), SealedJson.seal(manifest));
    assertThatThrownBy(table::latest)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("at most 2147483647");
  }

  @Test
  void whatALaterReleaseSaysOfAListIsKept() throws IOException {
    List<ShardSummary> expected = ofLongLists();
    rewriteListOfLists(lists -> ((ObjectNode) lists.get(0)).put("later", "x"));
    commitReplacement(expected.get(700), zeros(1000));
    assertThat(log.lists(log.newest().orElseThrow(), list -> {}))
        .filteredOn(list -> list.unknown().equals("{\"later\":\"x\"}"))
        .hasSize(1);
  }

  @Test
  void aFeatureOfAListOfListsStopsChangesAndSweeps() throws IOException {
    foldReal();
    ShardListFile list = listOfLists();
    ObjectNode node = parsed(list.file());
    node.putObject("features").putArray("write").add("later");
    Files.write(directory.resolve(list.file()), SealedJson.seal(node));
    rewriteListOfLists(lists -> {});
    ShardSummary shard = table.latest().shards().get(7);
    ShardSummary replacement = Shards.write(storage, Shards.SCHEMA, 8, 9);
    assertThatThrownBy(() -> commitReplacement(shard, replacement))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("'later'");
    assertThatThrownBy(() -> LaterTable.of(storage).sweep(SweepOptions.defaults(), orphan -> {}))
        .isInstanceOf(UnsupportedFormatException.class);
  }
}
