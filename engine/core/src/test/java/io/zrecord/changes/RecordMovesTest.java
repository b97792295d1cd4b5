package io.zrecord.changes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.ChangeBase;
import io.zrecord.table.MergeChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A version that moves records to other partitions says which records are the same. */
final class RecordMovesTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("kind", ElementType.UTF8)
      .build();
  private static final List<Integer> PARTITIONS = List.of(2);
  private static final WriteOptions WRITE =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);

  private final Random random = Budget.random();

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  private ShardWriter writer(String kind) {
    return ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, WRITE, PARTITIONS, List.of(kind));
  }

  private static void put(ShardWriter writer, long number, String kind) {
    writer.putLong(0, number);
    writer.put(1, kind.getBytes(UTF_8), 0, kind.length());
    writer.endRecord();
  }

  private ShardSummary shard(String kind, long first, int count) {
    try (ShardWriter writer = writer(kind)) {
      for (long number = first; number < first + count; number++) {
        put(writer, number, kind);
      }
      return writer.finish().orElseThrow();
    }
  }

  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
    table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
        .shards(List.of(shard("a", 0, 40), shard("a", 40, 40), shard("b", 80, 40)))
        .build()
        .partitionedBy(PARTITIONS));
  }

  private static List<Long> numbers(TableSnapshot version) {
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("number");
      int length = (int) dataset.length();
      reader.select(LongStream.range(0, length).toArray(), 0, length);
      List<Long> numbers = new ArrayList<>();
      for (int i = 0; i < length; i++) {
        numbers.add(
            ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
      }
      return numbers;
    }
  }

  /** Deletes records of shards, says of some of them that they were moved, and adds a new one. */
  private MergeChange moving(TableSnapshot base, Set<Integer> indices, Set<Long> moved) {
    MergeChange merge = MergeChange.of(base);
    List<Long> numbers = numbers(base);
    try (ShardWriter target = writer("c")) {
      for (int ordinal = 0; ordinal < base.shards().size(); ordinal++) {
        ShardSummary shard = base.shards().get(ordinal);
        long first = base.firstIndex(ordinal);
        try (ShardChangeWriter changes =
            ShardChangeWriter.open(storage, ChangeBase.of(base), shard, Set.of())) {
          for (int index : indices) {
            if (index >= first && index < first + shard.length()) {
              changes.delete(index - first);
              if (random.nextInt(4) > 0) {
                target.movedFrom(shard.id(), changes.slotOf(index - first));
                moved.add(numbers.get(index));
              }
              put(target, numbers.get(index), "c");
            }
          }
          merge.change(changes.finish());
        }
      }
      put(target, 1_000_000 + base.version(), "c");
      merge.adding(List.of(target.finish().orElseThrow()));
    }
    return merge;
  }

  private Set<Integer> some(TableSnapshot base, int count) {
    Set<Integer> indices = new HashSet<>();
    while (indices.size() < count) {
      indices.add(random.nextInt((int) base.length()));
    }
    return indices;
  }

  private RecordMoves moves(long version) {
    return TableChanges.of(storage).of(version).moves(storage);
  }

  /** Requires that exactly some records were moved, by their numbers. */
  private void requireMoved(long version, Set<Long> expected) {
    RecordMoves moves = moves(version);
    List<Long> before = numbers(table.version(version - 1));
    List<Long> after = numbers(table.version(version));
    Set<Long> found = new HashSet<>();
    for (int i = 0; i < moves.count(); i++) {
      long number = after.get((int) moves.after(i));
      assertThat(before.get((int) moves.before(i))).isEqualTo(number);
      assertThat(moves.beforeOf(moves.after(i))).hasValue(moves.before(i));
      found.add(number);
    }
    assertThat(found).isEqualTo(expected).hasSize(moves.count());
  }

  @Test
  void recordsThatWereMovedAreFound() {
    for (int round = Math.max(3, Budget.of(20)); round > 0; round--) {
      Set<Long> moved = new HashSet<>();
      TableSnapshot base = table.latest();
      TableSnapshot after = moving(base, some(base, 6), moved).commit();
      requireMoved(after.version(), moved);
    }
    assertThat(
            DatasetCheck.of(storage.location()).allVersions().run(finding -> {}).isSound())
        .isTrue();
  }

  @Test
  void recordsOfAShardThatIsGoneWereMoved() {
    Set<Long> moved = new HashSet<>();
    TableSnapshot base = table.latest();
    Set<Integer> all = new HashSet<>();
    for (int i = 0; i < 40; i++) {
      all.add(i);
    }
    TableSnapshot after = moving(base, all, moved).commit();
    assertThat(after.shards()).hasSize(3);
    requireMoved(1, moved);
    assertThat(moved).hasSizeGreaterThan(5);
  }

  @Test
  void whatFollowsARebalanceIsADeletionAndAnInsertion() {
    TableSnapshot base = table.latest();
    MergeChange late = moving(base, Set.of(1, 2, 41), new HashSet<>());
    TableRebalance.of(
            RebalancePlan.of(base, RebalanceOptions.defaults().withAllShards().withWrite(WRITE)))
        .run();
    TableSnapshot after = late.commit();
    requireMoved(after.version(), Set.of());
    assertThat(after.length()).isEqualTo(121);
  }

  @Test
  void aPlaceWhoseRecordIsStillThereOrWasTakenIsIgnored() {
    TableSnapshot base = table.latest();
    ShardSummary shard = base.shards().get(1);
    MergeChange merge = MergeChange.of(base);
    try (ShardChangeWriter changes =
            ShardChangeWriter.open(storage, ChangeBase.of(base), shard, Set.of());
        ShardWriter target = writer("c")) {
      changes.delete(3);
      target.movedFrom(shard.id(), 4);
      put(target, 44, "c");
      target.movedFrom(shard.id(), 3);
      put(target, 43, "c");
      target.movedFrom(shard.id(), 3);
      put(target, 43, "c");
      target.movedFrom(shard.id(), 1 << 20);
      put(target, 45, "c");
      target.movedFrom(UUID.randomUUID(), 3);
      put(target, 46, "c");
      merge.change(changes.finish()).adding(List.of(target.finish().orElseThrow()));
    }
    merge.commit();
    RecordMoves moves = moves(1);
    assertThat(moves.count()).isOne();
    assertThat(moves.before(0)).isEqualTo(43);
    assertThat(moves.after(0)).isEqualTo(120);
  }

  @Test
  void damageIsFound() throws IOException {
    moving(table.latest(), Set.of(1, 2, 41, 99), new HashSet<>()).commit();
    while (moves(table.latest().version()).count() == 0) {
      moving(table.latest(), some(table.latest(), 4), new HashSet<>()).commit();
    }
    TableSnapshot latest = table.latest();
    ShardSummary shard = latest.shards().get(latest.shards().size() - 1);
    TablesRef file = shard.tables().get(0);
    var origins = TablesFile.open(storage, shard, file, kept -> {})
        .json()
        .since()
        .origins()
        .orElseThrow();
    Path tables = directory.resolve("table").resolve(shard.fileOf(file));
    byte[] bytes = Files.readAllBytes(tables);
    List<Long> numbers = numbers(latest);
    for (Section section : List.of(origins.slots().section(), origins.places().section())) {
      for (int bit = 0; bit < 8 * section.bytes(); bit += 1 + random.nextInt(60)) {
        byte[] flipped = bytes.clone();
        flipped[(int) section.position() + bit / 8] ^= (byte) (1 << bit % 8);
        Files.write(tables, flipped);
        OpenShards.shared().clear();
        assertThat(numbers(latest)).isEqualTo(numbers);
        assertThatThrownBy(() -> moves(latest.version())).isInstanceOf(CorruptDataException.class);
        assertThat(DatasetCheck.of(storage.location()).run(finding -> {}).isSound())
            .isFalse();
      }
    }
  }

  @Test
  void onlyANewShardSaysWhereRecordsWere() {
    TableSnapshot base = table.latest();
    ShardSummary shard = base.shards().get(0);
    try (ShardWriter writer = ShardWriter.ofFields(storage, shard, SCHEMA, WRITE)) {
      assertThatThrownBy(() -> writer.movedFrom(shard.id(), 1))
          .isInstanceOf(IllegalStateException.class);
    }
    assertThat(moves(0).count()).isZero();
  }

  @Test
  void whereNoRecordIsCannotBeSaid() {
    ShardSummary shard = table.latest().shards().get(0);
    try (ShardWriter writer = writer("c")) {
      writer.movedFrom(shard.id(), 1);
      assertThatThrownBy(writer::finish).isInstanceOf(IllegalStateException.class);
    }
    try (ShardWriter writer = writer("c")) {
      put(writer, 1, "c");
      assertThatThrownBy(() -> writer.movedFrom(shard.id(), -1))
          .isInstanceOf(IllegalArgumentException.class);
      writer.movedFrom(shard.id(), 1);
      assertThatThrownBy(writer::finish).isInstanceOf(IllegalStateException.class);
    }
  }
}
