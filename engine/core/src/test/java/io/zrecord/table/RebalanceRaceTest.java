package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.Budget;
import io.zrecord.testing.Cases;
import io.zrecord.testing.ForwardingStorage;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A rebalance at once with another, with appends, overwrites and expiries, in every order of their
 * calls; and killed at every call.
 */
final class RebalanceRaceTest {
  private static final long MIB = 1 << 20;
  private static final RebalanceOptions JOIN_ALL = RebalanceOptions.defaults()
      .withShardBytes(MIB, MIB)
      .withWrite(WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE));
  private static final SweepOptions SWEEP = SweepOptions.defaults().withMode(CareMode.DELETE);

  /** Versions 0 to 2 of some small shards, and how those who worked on them fared. */
  private static final class World implements Interleavings.World {
    final CareModel model = new CareModel(Budget.random());
    private final Tally tally;
    int rewritten;
    int conflicting;
    int appended;
    int overwritten;
    int refused;

    World(Tally tally) {
      this.tally = tally;
      for (int version = 0; version < 3; version++) {
        model.append();
      }
    }

    @Override
    public Storage storage() {
      return model.storage.elsewhere();
    }

    @Override
    public Storage seen(Storage ordered) {
      return new WithoutHint(ordered);
    }

    @Override
    public void check() {
      tally.orders++;
      tally.rewritten += rewritten;
      tally.conflicting += conflicting;
      tally.appended += appended;
      tally.overwritten += overwritten;
      tally.refused += refused;
      model.settle();
      model.retained().forEach(model::requireContents);
      assertThat(model.newestVersion()).isEqualTo(2 + rewritten + appended + overwritten);
      // Whoever was refused has deleted what he wrote.
      assertThat(model.storage.names()).isEqualTo(model.namedFiles());
    }
  }

  /** What happened in how many orders. */
  private static final class Tally {
    int orders;
    int rewritten;
    int conflicting;
    int appended;
    int overwritten;
    int refused;
  }

  private static Tally all(List<Work<World>> work) throws Exception {
    Tally tally = new Tally();
    Interleavings.all(() -> new World(tally), work);
    System.out.printf(
        "%d orders: %d groups rewritten, %d in conflict, %d appended, %d overwritten, %d refused%n",
        tally.orders,
        tally.rewritten,
        tally.conflicting,
        tally.appended,
        tally.overwritten,
        tally.refused);
    return tally;
  }

  private static void rebalance(World world, Storage storage) {
    RebalancePlan plan = RebalancePlan.of(RecordTable.at(storage).latest(), JOIN_ALL);
    RebalanceResult result = TableRebalance.of(plan).threads(1).run();
    world.rewritten += result.groups();
    world.conflicting += result.failures().size();
    for (RebalanceResult.Failure failure : result.failures()) {
      assertThat(failure.reason()).contains("plan again");
    }
  }

  private static Work<World> write(TableChange.Kind kind) {
    return (world, storage) -> {
      CareModel model = world.model;
      long base = RecordTable.at(storage).latest().version();
      CareModel.Written written = model.write(OptionalLong.of(base));
      try {
        TableSnapshot snapshot = RecordTable.at(storage)
            .commit(Shards.change(kind, written.base(), model.schema, written.shards()));
        model.committed(snapshot.version(), kind, written);
        world.appended += kind == TableChange.Kind.APPEND ? 1 : 0;
        world.overwritten += kind == TableChange.Kind.OVERWRITE ? 1 : 0;
      } catch (CommitConflictException e) {
        written.shards().forEach(shard -> storage.delete(shard.directory()));
        world.refused++;
      }
    };
  }

  @Test
  void ofTwoRebalancesOfTheSameShardsOneWinsAndTheOtherReportsAConflict() throws Exception {
    Tally tally = all(List.of(RebalanceRaceTest::rebalance, RebalanceRaceTest::rebalance));
    // If the second begins when the first has ended there is nothing left to do.
    assertThat(tally.rewritten).isEqualTo(tally.orders);
    assertThat(tally.conflicting).isBetween(1, tally.orders - 1);
  }

  @Test
  void aRebalanceAndAnAppendBothSucceed() throws Exception {
    Tally tally = all(List.of(RebalanceRaceTest::rebalance, write(TableChange.Kind.APPEND)));
    assertThat(tally.rewritten).isEqualTo(tally.orders);
    assertThat(tally.appended).isEqualTo(tally.orders);
    assertThat(tally.conflicting + tally.refused).isZero();
  }

  @Test
  void ofARebalanceAndAnOverwriteTheFirstToCommitWins() throws Exception {
    Tally tally = all(List.of(RebalanceRaceTest::rebalance, write(TableChange.Kind.OVERWRITE)));
    assertThat(tally.conflicting).isPositive();
    assertThat(tally.refused).isPositive();
    assertThat(tally.conflicting + tally.refused).isLessThan(tally.orders);
  }

  @Test
  void aRebalanceKilledAtAnyCallLeavesTheVersionBeforeOrTheNextWhole() {
    World whole = new World(new Tally());
    NotingStorage noting = new NotingStorage(whole.model.storage);
    MortalStorage immortal = new MortalStorage(noting, Integer.MAX_VALUE);
    noting.counter = immortal::calls;
    rebalance(whole, immortal.storage());
    int calls = immortal.calls();
    Set<Long> lengths = new TreeSet<>();
    int withOrphans = 0;
    // Whoever dies between the shard and its publication leaves files, whatever else is chosen.
    long[] killed = LongStream.concat(
            LongStream.of(noting.callsOfPublication - 1), LongStream.of(Cases.before(calls)))
        .distinct()
        .toArray();
    for (long call : killed) {
      World world = new World(new Tally());
      CareModel model = world.model;
      MortalStorage mortal = new MortalStorage(model.storage.elsewhere(), (int) call);
      try {
        rebalance(world, mortal.storage());
      } catch (MortalStorage.KilledError | IllegalStateException e) {
        assertThat(mortal.isKilled()).as("%s", e).isTrue();
      }
      model.settle();
      model.retained().forEach(model::requireContents);
      lengths.add(model.newestVersion());
      withOrphans += model.storage.names().equals(model.namedFiles()) ? 0 : 1;
      // The next one does the rest.
      rebalance(world, model.storage);
      model.settle();
      model.requireContents(3);
      model.pass(Duration.ofHours(100));
      model.table.sweep(SWEEP, orphan -> {});
      model.settle();
      assertThat(model.storage.names()).isEqualTo(model.namedFiles());
      model.retained().forEach(model::requireContents);
    }
    System.out.printf(
        "killed at %d of %d calls, %d times with files left%n", killed.length, calls, withOrphans);
    assertThat(lengths).containsExactly(2L, 3L);
    assertThat(withOrphans).isPositive();
  }

  /** Notes how many calls there were when a version is published, that call included. */
  private static final class NotingStorage extends ForwardingStorage {
    IntSupplier counter = () -> 0;
    int callsOfPublication;

    NotingStorage(Storage storage) {
      super(storage);
    }

    @Override
    public boolean publish(String name, byte[] content) {
      callsOfPublication = counter.getAsInt();
      return super.publish(name, content);
    }
  }

  /** The control: what would also delete what it replaced is noticed. */
  @Test
  void aRebalanceThatDeletesWhatItReplacedIsNoticed() {
    CareModel model = new World(new Tally()).model;
    model.append();
    try (RecordDataset reader = openElsewhere(model, 2)) {
      model.storage.delete(model.table.version(2).shards().get(0).directory());
      assertThatThrownBy(() -> model.requireContents(2, reader))
          .isInstanceOf(MissingFileException.class);
    }
    assertThatThrownBy(model::requireRetained).isInstanceOf(AssertionError.class);
  }

  private static RecordDataset open(CareModel model, long version) {
    return RecordDataset.open(model.table.version(version), RecordDataset.ReadOptions.defaults());
  }

  /** Opens as in another process: nothing that was opened before is shared. */
  private static RecordDataset openElsewhere(CareModel model, long version) {
    return RecordDataset.open(
        RecordTable.at(model.storage.elsewhere()).version(version),
        RecordDataset.ReadOptions.defaults());
  }

  /**
   * A long scan: it goes on until its version is expired and its files are swept, unless the
   * version has a tag.
   */
  @Test
  void aScanGoesOnUntilItsVersionIsExpiredAndSwept() {
    CareModel model = new World(new Tally()).model;
    model.pass(Duration.ofDays(30));
    model.overwrite();
    RecordDataset scan = open(model, 2);
    RecordDataset late = openElsewhere(model, 2);
    RecordDataset tagged = open(model, 1);
    model.table.tag(1, "scan");
    ExpireOptions expire = ExpireOptions.defaults().withOlderThan(Duration.ofHours(2));

    // Its version was superseded an hour ago, and the files are a month old.
    model.pass(Duration.ofHours(1));
    assertThat(model.table.expire(expire).expired()).containsExactly(0L);
    model.table.sweep(SWEEP, orphan -> {});
    model.requireContents(2, scan);

    // Expired, but not swept.
    model.pass(Duration.ofHours(2));
    assertThat(model.table.expire(expire).expired()).containsExactly(2L);
    assertThat(model.table.sweep(SWEEP.withMode(CareMode.DRY_RUN), orphan -> {}).fileCount())
        .isPositive();
    model.requireContents(2, scan);

    // Swept: it fails by a missing file, and never gives a wrong value.
    model.table.sweep(SWEEP, orphan -> {});
    assertThatThrownBy(() -> model.requireContents(2, late))
        .isInstanceOf(MissingFileException.class);
    model.requireContents(1, tagged);
    model.requireContents(3);
    scan.close();
    late.close();
    tagged.close();
  }
}
