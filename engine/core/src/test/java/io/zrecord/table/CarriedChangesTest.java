package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Changes of records and rebalances that were planned on one version take effect together,
 * whichever comes second, unless they touch the same record.
 */
final class CarriedChangesTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("text", ElementType.UTF8)
      .build();
  private static final WriteOptions WRITE =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
  private static final int RECORDS = 60;
  private static final int SHARDS = 4;

  private final Random random = Budget.random();

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  /** The records of every version. The number of a record never changes. */
  private final TreeMap<Long, List<Item>> versions = new TreeMap<>();

  /** The numbers of the records that each version has changed. */
  private final TreeMap<Long, Set<Long>> touched = new TreeMap<>();

  /** Makes texts so long that a few dozen of them fill the smallest shard of a rebalance. */
  private static final String LONG = " and more".repeat(1000);

  private record Item(long number, String text) {}

  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
    List<ShardSummary> shards = new ArrayList<>();
    List<Item> items = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      shards.add(shard((long) i * RECORDS, RECORDS, items));
    }
    TableSnapshot created = table.commit(
        TableChange.of(TableChange.Kind.CREATE, SCHEMA).shards(shards).build());
    note(created, items, Set.of());
  }

  private ShardSummary shard(long first, int count, List<Item> items) {
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, WRITE)) {
      for (long i = first; i < first + count; i++) {
        writer.putLong(0, i);
        byte[] text = ("text " + i + LONG).getBytes(StandardCharsets.UTF_8);
        writer.put(1, text, 0, text.length);
        writer.endRecord();
        items.add(new Item(i, "text " + i + LONG));
      }
      return writer.finish().orElseThrow();
    }
  }

  private void note(TableSnapshot version, List<Item> items, Set<Long> changed) {
    versions.put(version.version(), List.copyOf(items));
    touched.put(version.version(), changed);
  }

  private List<Item> newest() {
    return versions.lastEntry().getValue();
  }

  private static List<Item> records(TableSnapshot version) {
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      int length = (int) dataset.length();
      long[] all = LongStream.range(0, length).toArray();
      FieldReader numbers = dataset.reader("number");
      FieldReader texts = dataset.reader("text");
      numbers.select(all, 0, length);
      texts.select(all, 0, length);
      List<Item> items = new ArrayList<>();
      for (int i = 0; i < length; i++) {
        long number =
            ByteBuffer.wrap(numbers.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong();
        String text = texts.isAbsent(i) ? null : new String(texts.value(i), StandardCharsets.UTF_8);
        items.add(new Item(number, text));
      }
      return items;
    }
  }

  /** A change of rows that was planned on a version. */
  private final class Planned {
    private final TableSnapshot base;
    private final RowChange change;
    private final TreeMap<Long, String> texts = new TreeMap<>();
    private final Set<Long> deleted = new HashSet<>();

    Planned(long version) {
      base = table.version(version);
      change = RowChange.of(base);
    }

    Planned delete(long... numbers) {
      for (long number : numbers) {
        change.delete(indexOf(number));
        deleted.add(number);
      }
      return this;
    }

    Planned update(long number, String text) {
      change.update(indexOf(number), "text", text);
      texts.put(number, text);
      return this;
    }

    private long indexOf(long number) {
      List<Item> items = versions.get(base.version());
      for (int i = 0; i < items.size(); i++) {
        if (items.get(i).number == number) {
          return i;
        }
      }
      throw new AssertionError(number);
    }

    private Set<Long> changed() {
      Set<Long> changed = new HashSet<>(deleted);
      changed.addAll(texts.keySet());
      return changed;
    }

    boolean commutes() {
      return touched.tailMap(base.version(), false).values().stream()
          .noneMatch(others -> changed().stream().anyMatch(others::contains));
    }

    void commit() {
      List<Item> items = new ArrayList<>();
      for (Item item : newest()) {
        if (!deleted.contains(item.number)) {
          items.add(
              texts.containsKey(item.number)
                  ? new Item(item.number, texts.get(item.number))
                  : item);
        }
      }
      TableSnapshot after = change.commit();
      note(after, items, changed());
      assertThat(records(after)).isEqualTo(items);
    }

    void conflicts() {
      long before = table.latest().version();
      assertThatThrownBy(change::commit).isInstanceOf(CommitConflictException.class);
      assertThat(table.latest().version()).isEqualTo(before);
    }
  }

  private RebalancePlan rebalance(long version, long from, long to) {
    return RebalancePlan.of(
        table.version(version),
        RebalanceOptions.defaults()
            .withAllShards()
            .withShardBytes(1 << 20, 1 << 20)
            .withIndices(from, to)
            .withWrite(WRITE));
  }

  private RebalanceResult run(RebalancePlan plan) {
    List<Item> items = newest();
    RebalanceResult result = TableRebalance.of(plan).threads(1).run();
    for (long v = versions.lastKey() + 1; v <= table.latest().version(); v++) {
      note(table.version(v), items, Set.of());
    }
    assertThat(records(table.latest())).isEqualTo(items);
    return result;
  }

  private RebalancePlan joiningAll(long version) {
    return rebalance(version, 0, Long.MAX_VALUE);
  }

  private void check() {
    versions.forEach((version, items) ->
        assertThat(records(table.version(version))).as("version %d", version).isEqualTo(items));
    List<String> problems = new ArrayList<>();
    DatasetCheck.of(directory.resolve("table").toString())
        .allVersions()
        .run(finding -> problems.add(finding.file() + ": " + finding.problem()));
    assertThat(problems).isEmpty();
  }

  @Test
  void changesOfOtherRecordsOfAShardAreBothKept() {
    Planned first = new Planned(0).delete(3).update(5, "five");
    Planned second = new Planned(0).delete(4, 61).update(6, null);
    first.commit();
    second.commit();
    check();
  }

  @Test
  void aRecordThatBothChangeIsNamed() {
    Planned first = new Planned(0).delete(3);
    Planned second = new Planned(0).update(3, "three");
    first.commit();
    assertThatThrownBy(second.change::commit)
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("record 3 of it");
    check();
  }

  @Test
  void aChangeFollowsItsRecordsOverARebalance() {
    Planned change = new Planned(0).delete(3, 100).update(70, "seventy").update(239, "last");
    assertThat(run(joiningAll(0)).groups()).isPositive();
    change.commit();
    assertThat(table.latest().shards()).hasSizeBetween(2, 3);
    assertThat(table.latest().shards().get(0).chunks()).anyMatch(chunk -> chunk.owner() != null);
    check();
  }

  @Test
  void aRebalanceKeepsWhatWasChangedSinceItWasPlanned() {
    RebalancePlan plan = joiningAll(0);
    new Planned(0).delete(3, 100).update(70, "seventy").commit();
    new Planned(1).delete(4).update(70, "again").commit();
    RebalanceResult result = run(plan);
    assertThat(result.failures()).isEmpty();
    assertThat(table.latest().shards()).hasSizeBetween(2, 3);
    check();
  }

  @Test
  void aChangeFollowsItsRecordsOverARebalanceThatCarriedAnother() {
    Planned late = new Planned(0).delete(0).update(101, "101").update(5, null);
    Planned same = new Planned(0).update(100, "too late");
    RebalancePlan plan = joiningAll(0);
    new Planned(0).delete(3, 100).update(70, "seventy").commit();
    assertThat(run(plan).failures()).isEmpty();
    late.commit();
    same.conflicts();
    check();
  }

  @Test
  void aChangeFollowsItsRecordsOverSeveralRebalances() {
    Planned late = new Planned(0).delete(0, 239).update(120, "120").update(121, "121");
    run(rebalance(0, 0, 120));
    new Planned(versions.lastKey()).delete(1, 50, 119).commit();
    run(joiningAll(versions.lastKey()));
    new Planned(versions.lastKey()).update(122, "122").delete(10).commit();
    run(joiningAll(versions.lastKey()));
    late.commit();
    check();
  }

  @Test
  void theDeletionOfAWholeShardFollowsItsRecords() {
    Planned all = new Planned(0).delete(LongStream.range(60, 120).toArray());
    Planned same = new Planned(0).delete(LongStream.range(60, 120).toArray());
    run(joiningAll(0));
    new Planned(versions.lastKey()).delete(59, 120).commit();
    all.commit();
    same.conflicts();
    check();
  }

  @Test
  void aRecordThatWasDeletedAndDroppedByARebalanceIsNotChanged() {
    // Without the look at each version, the slot of the record is that of another record now.
    Planned late = new Planned(0).update(3, "three");
    new Planned(0).delete(3).commit();
    run(joiningAll(versions.lastKey()));
    late.conflicts();
    check();
  }

  @Test
  void whatWasExpiredBetweenIsAConflict() {
    Planned late = new Planned(0).update(3, "three");
    run(joiningAll(0));
    new Planned(versions.lastKey()).delete(5).commit();
    expireAllButTheNewest();
    late.conflicts();
  }

  private void expireAllButTheNewest() {
    InstantSource later = InstantSource.fixed(Instant.now().plus(Duration.ofDays(30)));
    assertThat(RecordTable.at(storage, later).expire(ExpireOptions.defaults()).expired())
        .isNotEmpty();
  }

  private void makeFilesOld() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.toList()) {
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofHours(9))));
      }
    }
  }

  @Test
  void aSweepKeepsChunksThatOtherShardsName() throws IOException {
    Planned change = new Planned(0).delete(3, 100).update(70, "seventy");
    run(joiningAll(0));
    change.commit();
    List<Item> items = newest();
    expireAllButTheNewest();
    makeFilesOld();
    SweepResult swept = table.sweep(
        SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE),
        orphan -> {});
    assertThat(swept.fileCount()).isGreaterThan(SHARDS);
    versions.clear();
    note(table.latest(), items, Set.of());
    check();
    ChunkFile lent = table.latest().shards().get(0).chunks().stream()
        .filter(chunk -> chunk.owner() != null)
        .findFirst()
        .orElseThrow();
    assertThat(storage.exists("shard/" + lent.owner() + "/" + lent.fileName())).isTrue();
  }

  /** A rebalance must not bring back what an overwrite with older shards has taken back. */
  @Test
  void whatWasTakenBackIsNotCarried() {
    List<ShardSummary> before = table.latest().shards();
    List<Item> items = newest();
    new Planned(0).delete(1).update(2, "wrong").commit();
    RebalancePlan plan = joiningAll(1);
    Planned late = new Planned(1).update(7, "late");
    TableSnapshot restored = table.commit(TableChange.of(TableChange.Kind.OVERWRITE, SCHEMA)
        .base(table.latest())
        .shards(before)
        .build());
    note(restored, items, Set.of());
    assertThat(run(plan).failures()).isNotEmpty();
    late.conflicts();
    check();
  }

  /** The files of a change may be those of a version, whoever commits the change again. */
  @Test
  void aChangeThatIsCommittedAgainDeletesNoFile() {
    Planned first = new Planned(0).update(3, null);
    first.commit();
    TableSnapshot base = table.latest();
    ShardChange change;
    try (ShardChangeWriter writer = ShardChangeWriter.open(
        storage, ChangeBase.of(base), base.shards().get(0), Set.of("text"))) {
      // The value was absent before.
      writer.update(3, "text", null);
      change = writer.finish();
    }
    ShardChange nothing;
    try (ShardChangeWriter writer = ShardChangeWriter.open(
        storage, ChangeBase.of(base), base.shards().get(1), Set.of("text"))) {
      nothing = writer.finish();
    }
    note(MergeChange.of(base).change(change).change(nothing).commit(), newest(), Set.of(3L));
    assertThatThrownBy(MergeChange.of(base).change(change).change(nothing)::commit)
        .isInstanceOf(CommitConflictException.class);
    check();
  }

  /**
   * A value that was absent becomes absent again, by the same change in two commits. Nothing that
   * the newest version says tells the second that a version before names its patch.
   */
  @Test
  void aPatchThatAVersionBetweenNamesIsKept() {
    new Planned(0).update(3, null).commit();
    TableSnapshot base = table.latest();
    ShardChange change;
    try (ShardChangeWriter writer = ShardChangeWriter.open(
        storage, ChangeBase.of(base), base.shards().get(0), Set.of("text"))) {
      writer.update(3, "text", null);
      change = writer.finish();
    }
    note(MergeChange.of(base).change(change).commit(), newest(), Set.of(3L));
    new Planned(versions.lastKey()).update(5, "five").commit();
    note(MergeChange.of(base).change(change).commit(), newest(), Set.of(3L));
    assertThat(table.latest().version()).isEqualTo(4);
    check();
  }

  @Test
  void thePatchesThatACarriedChangeHasWrittenFirstAreDeleted() {
    Planned change = new Planned(0).delete(3).update(70, "seventy");
    Planned other = new Planned(0).update(4, "four").update(71, "71");
    run(rebalance(0, 0, RECORDS));
    change.commit();
    other.commit();
    long named =
        table.latest().shards().stream().filter(shard -> shard.patch() != null).count();
    assertThat(named).isEqualTo(2);
    // Each of the two shards has a patch of either version.
    assertThat(storage.listTree("shard").stream().filter(file -> file.name().endsWith(".patch")))
        .hasSize(4);
    check();
  }

  @Test
  void aChangeThatFollowsManyVersionsReadsEachOfThemOnce() {
    CountingStorage counting = new CountingStorage(storage, new AtomicLong());
    RowChange change = RowChange.of(RecordTable.at(counting).version(0));
    change.update(3, "text", "three");
    for (int i = 0; i < 6; i++) {
      run(joiningAll(versions.lastKey()));
    }
    counting.read.clear();
    change.commit();
    for (long version = 0; version < 6; version++) {
      assertThat(counting.read.stream().filter(ManifestNames.nameOf(version)::equals))
          .as("reads of version %d", version)
          .hasSize(1);
    }
  }

  @Test
  void aCommitLooksAtItsOwnFilesOfAShardOnly() {
    for (int i = 0; i < 5; i++) {
      new Planned(versions.lastKey()).update(i, "text").commit();
    }
    CountingStorage counting = new CountingStorage(storage, new AtomicLong());
    RowChange change = RowChange.of(RecordTable.at(counting).latest());
    change.update(30, "text", "thirty");
    change.commit();
    assertThat(counting.listed).noneMatch(directory -> directory.startsWith("shard"));
    assertThat(counting.found).hasSize(2);
    assertThat(counting.found).filteredOn(file -> file.endsWith(".patch")).hasSize(1);
    assertThat(counting.found).filteredOn(file -> file.endsWith(".zr")).hasSize(1);
  }

  @Test
  void aChangeWhoseFileIsGoneIsNotCommitted() {
    TableSnapshot base = table.latest();
    for (String end : List.of(".patch", ".zr")) {
      ShardChange change;
      try (ShardChangeWriter writer = ShardChangeWriter.open(
          storage, ChangeBase.of(base), base.shards().get(0), Set.of("text"))) {
        writer.update(3, "text", "three");
        change = writer.finish();
      }
      change.files().stream().filter(file -> file.endsWith(end)).forEach(storage::delete);
      assertThatThrownBy(MergeChange.of(base).change(change)::commit)
          .isInstanceOf(MissingFileException.class)
          .hasMessageContaining("run the write again");
    }
    assertThat(table.latest().version()).isZero();
  }

  @Test
  void theDeletionOfVeryManyRecordsThatWereMovedIsAConflict() {
    ShardSummary large = numbers(Carrier.MOST_SLOTS + 1);
    TableSnapshot base = table.commit(TableChange.of(TableChange.Kind.APPEND, SCHEMA)
        .base(table.latest())
        .shards(List.of(large))
        .build());
    MergeChange all = MergeChange.of(base).removing(base.shards().get(SHARDS));
    TableRebalance.of(
            RebalancePlan.of(base, RebalanceOptions.defaults().withAllShards().withWrite(WRITE)))
        .run();
    assertThatThrownBy(all::commit)
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("too many");
  }

  private ShardSummary numbers(int count) {
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, WRITE)) {
      for (int i = 0; i < count; i++) {
        writer.putLong(0, i);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  /** In any order, each commit is carried or refused, as what the others touched says. */
  @Test
  void anyCommitsAreAsInAList() {
    int refused = 0;
    int carried = 0;
    int rounds = Math.max(8, Budget.of(60));
    for (int round = 0; round < rounds || hasNotMet(carried, refused, round - rounds); round++) {
      List<Planned> changes = new ArrayList<>();
      List<RebalancePlan> rebalances = new ArrayList<>();
      long oldest = Math.max(versions.firstKey(), versions.lastKey() - 3);
      for (int i = 0; i < 3; i++) {
        long base = oldest + random.nextInt((int) (versions.lastKey() - oldest + 1));
        changes.add(anyChange(base));
        if (random.nextInt(3) == 0) {
          long length = versions.get(base).size();
          int from = random.nextInt((int) length);
          rebalances.add(rebalance(base, from, length - random.nextInt((int) length - from)));
        }
      }
      while (!changes.isEmpty() || !rebalances.isEmpty()) {
        if (rebalances.isEmpty() || (!changes.isEmpty() && random.nextBoolean())) {
          Planned change = changes.remove(0);
          if (change.commutes()) {
            carried += change.base.version() < versions.lastKey() ? 1 : 0;
            change.commit();
          } else {
            change.conflicts();
            refused++;
          }
        } else {
          run(rebalances.remove(0));
        }
      }
      List<Item> items = new ArrayList<>(newest());
      ShardSummary more = shard(versions.lastKey() * 1000 + 1000, 20, items);
      note(
          table.commit(TableChange.of(TableChange.Kind.APPEND, SCHEMA)
              .base(table.latest())
              .shards(List.of(more))
              .build()),
          items,
          Set.of());
    }
    check();
    assertThat(carried).isPositive();
    assertThat(refused).isPositive();
  }

  /** Returns whether rounds go on, at most a hundred more, until each of both was met. */
  private static boolean hasNotMet(int carried, int refused, int more) {
    return (carried == 0 || refused == 0) && more < 100;
  }

  private Planned anyChange(long base) {
    Planned change = new Planned(base);
    List<Item> items = versions.get(base);
    int from = random.nextInt(items.size());
    int to = random.nextInt(8) == 0
        ? Math.min(items.size(), from + RECORDS + random.nextInt(RECORDS))
        : Math.min(items.size(), from + 1 + random.nextInt(6));
    boolean isRange = random.nextInt(3) > 0;
    for (int i = from; i < to; i++) {
      int k = isRange ? i : random.nextInt(items.size());
      long number = items.get(k).number;
      if (change.changed().contains(number)) {
        continue;
      }
      if (random.nextBoolean() || to - from > 10) {
        change.delete(number);
      } else {
        // A value that is absent already, and is made absent again, is not changed.
        boolean isAbsent = random.nextInt(4) == 0 && items.get(k).text != null;
        change.update(number, isAbsent ? null : "new " + random.nextInt());
      }
    }
    return change;
  }
}
