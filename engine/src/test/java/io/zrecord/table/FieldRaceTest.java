package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A field is added with values at once with another, with appends, rebalances, expiries and sweeps,
 * in every order of their calls: whoever succeeds keeps the values of all others, and whoever is
 * refused leaves nothing.
 */
final class FieldRaceTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final Instant FIRST = NOW.minus(Duration.ofHours(9));
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
  private static final FieldSpec SCORE =
      new FieldSpec(1, "score", ElementType.I64, Shape.scalar(), Compression.RAW);
  private static final FieldSpec OTHER =
      new FieldSpec(1, "other", ElementType.I64, Shape.scalar(), Compression.RAW);
  private static final long MIB = 1 << 20;
  private static final RebalanceOptions JOIN_ALL =
      RebalanceOptions.defaults().withShardBytes(MIB, MIB).withWrite(OPTIONS);
  private static final MemoryStorage TEMPLATE = template();

  private static MemoryStorage template() {
    MemoryStorage storage = new MemoryStorage();
    RecordTable table = RecordTable.at(storage, InstantSource.fixed(FIRST));
    table.commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 9)));
    RecordTable.at(storage, InstantSource.fixed(FIRST.plus(Duration.ofHours(3))))
        .commit(Shards.overwrite(
            OptionalLong.of(0),
            Shards.write(storage, Shards.SCHEMA, 1, 2, 3),
            Shards.write(storage, Shards.SCHEMA, 4)));
    return storage;
  }

  /** The table, and how those who worked on it fared. */
  private static final class World implements Interleavings.World, InstantSource {
    private Instant now = FIRST;
    final MemoryStorage storage = new MemoryStorage(this);
    private final Tally tally;
    final Set<String> added = new TreeSet<>();
    int refused;
    int appended;
    int rebalanced;
    int unplanned;

    World(Tally tally) {
      this.tally = tally;
      TEMPLATE
          .names()
          .forEach(name -> storage.overwrite(name, TEMPLATE.read(name, SealedJson.MAX_BYTES)));
      now = NOW;
    }

    @Override
    public Instant instant() {
      return now;
    }

    @Override
    public Storage storage() {
      return storage;
    }

    @Override
    public Storage seen(Storage ordered) {
      return new WithoutHint(ordered);
    }

    @Override
    public void check() {
      tally.orders++;
      tally.added += added.size();
      tally.refused += refused;
      tally.appended += appended;
      tally.rebalanced += rebalanced;
      tally.unplanned += unplanned;
      TableSnapshot latest = RecordTable.at(storage).latest();
      assertThat(latest.length()).isEqualTo(4 + appended);
      assertThat(latest.schema().fields().stream().map(FieldSpec::name).skip(1))
          .containsExactlyInAnyOrderElementsOf(added);
      for (long i = 0; i < latest.length(); i++) {
        assertThat(read(latest, "value", i)).isEqualTo(i + 1);
        for (String field : added) {
          // The last record was appended, and the field added to the records before.
          assertThat(read(latest, field, i)).isEqualTo(i < 4 ? 10 * (i + 1) : null);
        }
      }
      assertThat(shardFiles()).containsExactlyInAnyOrderElementsOf(namedFiles());
    }

    private Set<String> shardFiles() {
      return storage.names().stream()
          .filter(name -> name.startsWith("shard/") && name.contains("."))
          .collect(Collectors.toSet());
    }

    private Set<String> namedFiles() {
      NamedFiles named = new NamedFiles(storage);
      named.refresh();
      return storage.names().stream()
          .filter(name -> name.startsWith("shard/") && name.contains("."))
          .filter(name -> named
              .filesOf(UUID.fromString(name.split("/", -1)[1]))
              .contains(name.split("/", -1)[2]))
          .collect(Collectors.toSet());
    }
  }

  private static Long read(TableSnapshot version, String field, long index) {
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      FieldReader reader = dataset.reader(field);
      reader.select(new long[] {index}, 0, 1);
      return reader.isAbsent(0)
          ? null
          : Long.valueOf(
              ByteBuffer.wrap(reader.value(0)).order(ByteOrder.LITTLE_ENDIAN).getLong());
    }
  }

  /** What happened in how many orders. */
  private static final class Tally {
    int orders;
    int added;
    int refused;
    int appended;
    int rebalanced;
    int unplanned;
  }

  private static Tally all(List<Work<World>> work) throws Exception {
    Tally tally = new Tally();
    Interleavings.all(() -> new World(tally), work);
    print(tally);
    return tally;
  }

  private static void print(Tally tally) {
    System.out.printf(
        "%d orders: %d added, %d appended, %d rebalanced, %d refused, %d to be planned again%n",
        tally.orders,
        tally.added,
        tally.appended,
        tally.rebalanced,
        tally.refused,
        tally.unplanned);
  }

  private static RecordTable at(World world, Storage storage) {
    return RecordTable.at(storage, world);
  }

  /** Adds a field whose values are ten times those of the first field. */
  private static Work<World> add(FieldSpec field) {
    return (world, storage) -> {
      try (RecordFieldsWriter writer =
          RecordFieldsWriter.add(at(world, storage), List.of(field), OPTIONS)) {
        TableSnapshot base = writer.base();
        for (int shard = 0; shard < base.shards().size() && base.firstIndex(shard) < 4; shard++) {
          RecordAppender values = writer.newAppender(shard);
          long first = base.firstIndex(shard);
          for (long i = 0; i < base.shards().get(shard).length(); i++) {
            values.set(field.name(), 10 * (first + i + 1)).endRecord();
          }
          writer.finish(shard);
        }
        writer.commit();
        world.added.add(field.name());
      } catch (CommitConflictException e) {
        world.refused++;
      }
    };
  }

  private static void append(World world, Storage storage) {
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 5);
    TableSnapshot base = at(world, storage).latest();
    at(world, storage)
        .commit(Shards.change(
            TableChange.Kind.APPEND,
            OptionalLong.of(base.version()),
            Shards.SCHEMA,
            List.of(shard)));
    world.appended++;
  }

  private static void rebalance(World world, Storage storage) {
    var result = TableRebalance.of(RebalancePlan.of(at(world, storage).latest(), JOIN_ALL))
        .threads(1)
        .run();
    world.rebalanced += result.groups();
    world.unplanned += result.failures().size();
    result.failures().forEach(failure -> assertThat(failure.reason()).contains("plan again"));
  }

  private static void expireAndSweep(World world, Storage storage) {
    at(world, storage).expire(ExpireOptions.defaults().withOlderThan(Duration.ofHours(1)));
    at(world, storage)
        .sweep(
            SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE),
            orphan -> {});
  }

  @Test
  void filesOfARewrittenFieldAreSweptWhenNoVersionNeedsThem() {
    World world = new World(new Tally());
    add(SCORE).run(world, world.storage);
    try (RecordFieldsWriter writer =
        RecordFieldsWriter.rewrite(at(world, world.storage), Set.of("score"), OPTIONS)) {
      RecordAppender values = writer.newAppender(0);
      for (int i = 0; i < 3; i++) {
        values.set("score", 7L).endRecord();
      }
      writer.commit();
    }
    int before = world.shardFiles().size();
    expireAndSweep(world, world.storage);
    // The shard of version 0 is gone. The version with the first scores is younger than an hour.
    assertThat(world.shardFiles()).hasSize(before - 2);
    world.now = NOW.plus(Duration.ofHours(9));
    append(world, world.storage);
    world.now = NOW.plus(Duration.ofHours(18));
    expireAndSweep(world, world.storage);
    TableSnapshot latest = at(world, world.storage).latest();
    Set<String> needed = latest.shards().stream()
        .flatMap(shard -> Stream.concat(
                shard.tables().stream().map(TablesRef::fileName),
                shard.chunks().stream().map(ChunkFile::fileName))
            .map(name -> shard.directory() + "/" + name))
        .collect(Collectors.toSet());
    assertThat(world.shardFiles()).isEqualTo(needed).hasSize(10);
    assertThat(read(latest, "score", 1)).isEqualTo(7);
    assertThat(read(latest, "score", 3)).isEqualTo(40);
    assertThat(read(latest, "value", 2)).isEqualTo(3);
  }

  @Test
  void ofTwoAddedFieldsOneIsRefused() throws Exception {
    Tally tally = all(List.of(add(SCORE), add(OTHER)));
    assertThat(tally.added + tally.refused).isEqualTo(2 * tally.orders);
    assertThat(tally.refused).isBetween(1, tally.orders - 1);
  }

  @Test
  void anAppendAndAnAddedFieldBothSucceed() throws Exception {
    Tally tally = all(List.of(add(SCORE), FieldRaceTest::append));
    assertThat(tally.added).isEqualTo(tally.orders);
    assertThat(tally.appended).isEqualTo(tally.orders);
  }

  @Test
  void ofARebalanceAndAnAddedFieldTheFirstToCommitWins() throws Exception {
    Tally tally = all(List.of(add(SCORE), FieldRaceTest::rebalance));
    assertThat(tally.refused).isPositive();
    assertThat(tally.unplanned).isPositive();
    assertThat(tally.added).isPositive();
    assertThat(tally.added + tally.refused).isEqualTo(tally.orders);
  }

  @Test
  void anExpiryAndASweepLeaveAnAddedFieldAlone() throws Exception {
    Tally tally = new Tally();
    Interleavings.some(
        3854,
        () -> new World(tally),
        List.<Work<World>>of(add(SCORE), FieldRaceTest::expireAndSweep),
        () -> true);
    print(tally);
    assertThat(tally.added).isEqualTo(tally.orders);
  }
}
