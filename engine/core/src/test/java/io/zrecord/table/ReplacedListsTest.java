package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.table.ListLimits;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.PlacedShards;
import io.zrecord.internal.table.PlacedShards.Placed;
import io.zrecord.internal.table.ReplacedShards;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.internal.table.TinyLists;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.testing.Budget;
import io.zrecord.testing.MemoryStorage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** Changes of shards that stand in lists, on tables that have shards in manifests only. */
final class ReplacedListsTest {
  /** Limits at which lists keep some replaced shards, in manifests and in lists of lists. */
  private static final ListLimits FEW = new ListLimits(8, 3, 2, 50);

  private final Random random = Budget.random();
  private final Map<String, Integer> seen = new HashMap<>();
  private final AtomicLong written = new AtomicLong();
  private CountingStorage storage;
  private ManifestLog log;
  private List<ShardSummary> expected;
  private List<List<ShardSummary>> versions;

  private void open(int shards) {
    storage = new CountingStorage(new MemoryStorage(), written);
    log = new ManifestLog(storage);
    SimulatedTables.publish(storage, shards, 1);
    expected = new ArrayList<>(RecordTable.at(storage).latest().shards());
    versions = new ArrayList<>();
    versions.add(List.copyOf(expected));
  }

  private void commit(TableChange change) {
    new Committer(storage, log)
        .commit(new ShardCommit(storage, log, change, OptionalLong.of(Long.MAX_VALUE)));
    versions.add(List.copyOf(expected));
  }

  private ShardSummary anyShard(long length) {
    ShardSummary some = SimulatedTables.shard(random.nextInt(), 1);
    return new ShardSummary(
        new UUID(random.nextLong(), 1), length, some.chunks(), some.tables(), some.valueBytes());
  }

  private void append() {
    ShardSummary added = anyShard(1000);
    expected.add(added);
    commit(Shards.append(OptionalLong.of(versions.size() - 1L), added));
  }

  /** Gives patches to shards, and deletes all records of some. */
  private void change(int most) {
    TableSnapshot base = RecordTable.at(storage).latest();
    List<TableChange.Replacement> runs = new ArrayList<>();
    Set<Integer> ordinals = new TreeSet<>();
    for (int i = 1 + random.nextInt(most); i > 0; i--) {
      ordinals.add(random.nextInt(expected.size()));
    }
    List<ShardSummary> after = new ArrayList<>();
    for (int i = 0; i < expected.size(); i++) {
      ShardSummary shard = expected.get(i);
      boolean isDeleted = random.nextInt(5) == 0 && ordinals.size() < expected.size();
      List<ShardSummary> changed =
          !ordinals.contains(i) ? List.of(shard) : isDeleted ? List.of() : List.of(patched(shard));
      if (ordinals.contains(i)) {
        runs.add(TableChange.Replacement.ofRows(shard, changed));
      }
      after.addAll(changed);
    }
    expected = after;
    commit(TableChange.rows(base, TableChange.Kind.DELETE, base.schema(), runs, Map.of()));
  }

  private ShardSummary patched(ShardSummary shard) {
    return WideChangesFigures.patched(shard, random.nextLong());
  }

  /** Writes some shards to others, as a rebalance does. */
  private void rebalance() {
    TableSnapshot base = RecordTable.at(storage).latest();
    int from = random.nextInt(expected.size());
    int to = Math.min(expected.size(), from + 1 + random.nextInt(4));
    List<ShardSummary> removed = List.copyOf(expected.subList(from, to));
    List<ShardSummary> added = new ArrayList<>();
    long left = removed.stream().mapToLong(ShardSummary::length).sum();
    for (int i = random.nextInt(3); i > 0 && left > 1; i--) {
      added.add(anyShard(left / 2));
      left -= left / 2;
    }
    added.add(anyShard(left));
    expected.subList(from, to).clear();
    expected.addAll(from, added);
    commit(TableChange.rebalance(
        base,
        base.version(),
        base.schema(),
        List.of(new TableChange.Replacement(removed, added)),
        Map.of()));
  }

  @Test
  void versionsHaveTheShardsThatTheyWereGiven() throws Exception {
    for (int sequence = 0; sequence < Budget.of(30); sequence++) {
      TinyLists.run(FEW, this::sequence);
    }
    assertThat(seen.keySet())
        .contains(
            "replaced in a list of a manifest",
            "replaced in a list of lists",
            "replaced in a list of a list of lists");
  }

  private void sequence() {
    open(1 + random.nextInt(80));
    for (int step = 0; step < 25; step++) {
      switch (random.nextInt(6)) {
        case 0 -> append();
        case 1 -> rebalance();
        case 2 -> change(expected.size());
        default -> change(3);
      }
      if (expected.isEmpty()) {
        append();
      }
      requireNewest();
    }
    for (int version = 0; version < versions.size(); version++) {
      assertThat(shards(version)).isEqualTo(versions.get(version));
    }
    requireNamed(0);
    for (int i = 0; i < 20; i++) {
      requireDifference(random.nextInt(versions.size()), random.nextInt(versions.size()));
    }
    int floor = random.nextInt(versions.size());
    LaterTable.expire(storage, versions.size() - floor);
    requireNamed(Math.toIntExact(log.newest().orElseThrow().oldest()));
  }

  private List<ShardSummary> shards(int version) {
    return List.copyOf(RecordTable.at(storage).version(version).shards());
  }

  private void requireNewest() {
    Manifest newest = log.newest().orElseThrow();
    TableSnapshot snapshot = RecordTable.at(storage).latest();
    assertThat(snapshot.shards()).hasSize(expected.size());
    // By a way that leads to few lists.
    long index = random.nextLong(snapshot.length());
    int ordinal = snapshot.shardOf(index);
    assertThat(snapshot.shards().get(ordinal)).isEqualTo(expected.get(ordinal));
    assertThat(snapshot.firstIndex(ordinal)).isBetween(0L, index);
    long first =
        expected.subList(0, ordinal).stream().mapToLong(ShardSummary::length).sum();
    assertThat(snapshot.firstIndex(ordinal)).isEqualTo(first);
    assertThat(snapshot.shards()).isEqualTo(expected);
    assertThat(newest.shards().size() + ListFolding.weightOf(newest.lists()))
        .isLessThanOrEqualTo(FEW.shards());
    for (ShardListFile list : newest.lists()) {
      note(list.isOfLists() ? "list of lists" : "list of a manifest", list.replaced());
      if (list.isOfLists()) {
        List<ShardListFile> members = log.membersToChange(list);
        assertThat(members).hasSizeLessThanOrEqualTo(FEW.lists());
        assertThat(ListFolding.weightOf(members)).isLessThanOrEqualTo(FEW.shards());
        members.forEach(member -> note("list of a list of lists", member.replaced()));
      }
    }
  }

  private void note(String place, ReplacedShards replaced) {
    if (!replaced.isEmpty()) {
      seen.merge("replaced in a " + place, 1, Integer::sum);
    }
  }

  /** What a sweep keeps is what the versions from a floor on have, neither more nor less. */
  private void requireNamed(int floor) {
    NamedFiles named = new NamedFiles(storage);
    named.refresh();
    Map<UUID, Set<String>> files = new HashMap<>();
    versions.forEach(version -> version.forEach(shard -> files.put(shard.id(), new HashSet<>())));
    for (List<ShardSummary> version : versions.subList(floor, versions.size())) {
      for (ShardSummary shard : version) {
        Set<String> ofShard = files.get(shard.id());
        shard.tables().forEach(tables -> ofShard.add(tables.fileName()));
        shard.chunks().forEach(chunk -> ofShard.add(chunk.fileName()));
        PatchRef patch = shard.patch();
        if (patch != null) {
          ofShard.add(patch.fileName());
        }
      }
    }
    files.forEach((shard, names) -> assertThat(named.filesOf(shard)).isEqualTo(names));
  }

  /** What differs is told, with what is the same in lists that were written anew. */
  private void requireDifference(int before, int after) {
    Manifest from = log.read(before);
    Manifest to = log.read(after);
    PlacedShards removed = PlacedShards.notIn(log, to, from);
    PlacedShards added = PlacedShards.notIn(log, from, to);
    requirePlaces(removed, versions.get(before));
    requirePlaces(added, versions.get(after));
    Set<ShardSummary> gone = new HashSet<>(versions.get(before));
    gone.removeAll(versions.get(after));
    Set<ShardSummary> come = new HashSet<>(versions.get(after));
    come.removeAll(versions.get(before));
    assertThat(difference(removed, added)).isEqualTo(gone);
    assertThat(difference(added, removed)).isEqualTo(come);
  }

  private static Set<ShardSummary> difference(PlacedShards some, PlacedShards others) {
    Set<ShardSummary> shards = new HashSet<>();
    some.inOrder().forEach(placed -> shards.add(placed.shard()));
    others.inOrder().forEach(placed -> shards.remove(placed.shard()));
    return shards;
  }

  private static void requirePlaces(PlacedShards placed, List<ShardSummary> shards) {
    Map<UUID, Placed> places = new HashMap<>();
    long first = 0;
    for (ShardSummary shard : shards) {
      places.put(shard.id(), new Placed(shard, first));
      first += shard.length();
    }
    for (Placed place : placed.inOrder()) {
      assertThat(place).isEqualTo(places.get(place.shard().id()));
    }
  }

  @Test
  void aSweepDoesNotGoByAListInWhichAnotherShardIsReplaced() throws Exception {
    TinyLists.run(FEW, () -> {
      open(8 + 1);
      change(Set.of(2));
    });
    forge(1, (manifest, list) -> {
      ArrayNode replaced = (ArrayNode) list.get("replaced").get(0);
      replaced.set(1, replaced.numberNode(replaced.get(1).longValue() - 1));
      add(1, manifest, "length");
      add(1, list, "length");
    });
    assertThatThrownBy(() -> new NamedFiles(storage).refresh())
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("a replaced shard has 999 records");
  }

  @Test
  void aSweepDoesNotGoByAnElementThatCountsMoreThanItsFileHas() throws Exception {
    requireRefused("of shards", 8);
    requireRefused("of lists", 3 * 8);
  }

  /** Forges a version that is read when the file of its list was read for another one. */
  private void requireRefused(String kind, int shards) throws Exception {
    TinyLists.run(FEW, () -> {
      open(shards + 1);
      for (int i = 0; i < 3; i++) {
        change(Set.of(i));
      }
    });
    forge(1, (manifest, list) -> {
      ((ArrayNode) list.get("replaced")).addArray().add(shards).add(1000).addArray();
      add(1, list, "shards");
      add(1000, list, "length");
      add(1000, manifest, "length");
    });
    assertThatThrownBy(() -> new NamedFiles(storage).refresh())
        .as(kind)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("has " + shards + " shards, but the manifest says " + (shards + 2));
  }

  private static void add(long number, ObjectNode node, String member) {
    node.put(member, node.get(member).longValue() + number);
  }

  /** Changes a manifest with one list. */
  private void forge(int version, BiConsumer<ObjectNode, ObjectNode> change) throws IOException {
    String name = ManifestNames.nameOf(version);
    ObjectNode manifest =
        (ObjectNode) new ObjectMapper().readTree(storage.read(name, SealedJson.MAX_BYTES));
    manifest.remove("crc32c");
    change.accept(manifest, (ObjectNode) manifest.get("lists").get(0));
    storage.delete(name);
    storage.publish(name, SealedJson.seal(manifest));
  }

  @Test
  void listsOfWhichNothingIsReplacedShareListsOfLists() throws Exception {
    TinyLists.run(new ListLimits(1, 4, 1, 100), () -> {
      open(9);
      assertThat(log.read(0).lists())
          .extracting(ShardListFile::shardCount)
          .containsExactly(4, 4, 1);
      delete(0, 4);
    });
    assertThat(log.read(1).lists()).extracting(ShardListFile::shardCount).containsExactly(4, 2, 1);
    assertThat(shards(1)).isEqualTo(versions.get(1));
  }

  @Test
  void aSmallListOfAListOfListsThatIsNotChangedStaysAsItIs() throws Exception {
    TinyLists.run(FEW, () -> {
      open(3 * 8 + 1);
      delete(8, 9, 10, 11, 12);
      assertThat(log.membersToChange(log.read(1).lists().get(0)))
          .extracting(ShardListFile::shardCount)
          .containsExactly(8, 3, 8);
      storage.published.clear();
      change(Set.of(12));
    });
    assertThat(storage.published).hasSize(1);
    assertThat(shards(2)).isEqualTo(versions.get(2));
  }

  private void delete(int... ordinals) {
    TableSnapshot base = RecordTable.at(storage).latest();
    List<ShardSummary> deleted = Arrays.stream(ordinals).mapToObj(expected::get).toList();
    expected.removeAll(deleted);
    commit(TableChange.rows(
        base,
        TableChange.Kind.DELETE,
        base.schema(),
        deleted.stream()
            .map(shard -> TableChange.Replacement.ofRows(shard, List.of()))
            .toList(),
        Map.of()));
  }

  @Test
  void aChangeOfFewShardsOfManyListsWritesThemAndTheManifest() {
    open(20_000);
    written.set(0);
    storage.published.clear();
    change(scattered(200));
    assertThat(storage.published).hasSize(1);
    assertThat(written.get()).isLessThan(2 * bytesOf(200));
  }

  /** A thousandth of ten million records is in nearly ten of a hundred shards. */
  @Test
  void aChangeOfMoreShardsThanAManifestHoldsWritesThemAndListsOfLists() {
    open(20_000);
    written.set(0);
    storage.published.clear();
    change(scattered(1900));
    assertThat(storage.published).hasSize(3);
    assertThat(written.get()).isLessThan((long) (1.2 * bytesOf(1900)));
    assertThat(shards(1)).isEqualTo(versions.get(1));
  }

  private Set<Integer> scattered(int count) {
    Set<Integer> ordinals = new TreeSet<>();
    while (ordinals.size() < count) {
      ordinals.add(random.nextInt(expected.size()));
    }
    return ordinals;
  }

  private void change(Set<Integer> ordinals) {
    TableSnapshot base = RecordTable.at(storage).latest();
    List<TableChange.Replacement> runs = new ArrayList<>();
    for (int ordinal : ordinals) {
      ShardSummary patched = patched(expected.get(ordinal));
      runs.add(TableChange.Replacement.ofRows(expected.set(ordinal, patched), List.of(patched)));
    }
    commit(TableChange.rows(base, TableChange.Kind.DELETE, base.schema(), runs, Map.of()));
  }

  private long bytesOf(int shards) {
    CountingStorage other = new CountingStorage(new MemoryStorage(), new AtomicLong());
    List<ShardSummary> some = new ArrayList<>();
    for (int i = 0; i < shards; i++) {
      some.add(patched(expected.get(i)));
    }
    return new ManifestLog(other)
        .writeLists(some, new ArrayList<>()).stream()
            .mapToLong(ShardListFile::lengthBytes)
            .sum();
  }

  /** Each of a hundred commits writes a bounded multiple of what it changes, on the average. */
  @Test
  void manyScatteredChangesWriteListsSeldom() throws Exception {
    TinyLists.run(new ListLimits(100, 100, 20, 50), () -> {
      open(1000);
      written.set(0);
      for (int i = 0; i < 100; i++) {
        change(scattered(20));
      }
      assertThat(shards(100)).isEqualTo(versions.get(100));
      // To write all lists again each time would be 50 times.
      assertThat(written.get()).isLessThan(20 * 100 * bytesOf(20));
    });
  }
}
