package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.testing.Budget;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random appends, overwrites, new fields, rebalances, tags, expiries and sweeps, some of them
 * planned before others, at once with others, killed or with failing storage, beside a list of
 * records for each version.
 */
final class TableCareTest {
  private static final int STEPS = 25;
  private static final long MIB = 1 << 20;

  /** What happened, so that a test that does nothing is noticed. */
  private static final Map<String, Integer> COUNTS = new TreeMap<>();

  private static void count(String what, int times) {
    if (times > 0) {
      COUNTS.merge(what, times, Integer::sum);
    }
  }

  @Test
  void everyRetainedVersionStaysAndNothingElseDoes() {
    run(
        Budget.of(75),
        Set.of(
            "groups rewritten",
            "groups that conflict",
            "rebalances killed",
            "rebalances with failures",
            "expiries killed",
            "sweeps killed",
            "tags killed",
            "versions expired",
            "versions tagged",
            "files swept",
            "readers of old versions"));
  }

  /**
   * Runs random sequences on the storage of {@link Simulation}, and more of them until everything
   * wanted has happened. The rarest happens in every tenth sequence.
   */
  static void run(int least, Set<String> wanted) {
    COUNTS.clear();
    int sequence = 0;
    for (; sequence < least || !COUNTS.keySet().containsAll(wanted); sequence++) {
      assertThat(sequence).as("sequences, in which happened %s", COUNTS).isLessThan(least + 1000);
      long seed = Budget.seed() + sequence;
      try {
        new Sequence(new Random(seed)).run();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(
            "sequence " + sequence + "; the first one of -Dzrecord.test.seed=" + seed, e);
      }
    }
    System.out.println(sequence + " sequences: " + COUNTS);
  }

  private static final class Sequence {
    private final Random random;
    private final CareModel model;
    private final Map<Long, RecordDataset> readers = new HashMap<>();
    private @Nullable RebalancePlan waitingPlan;
    private CareModel.@Nullable Written waitingAppend;

    Sequence(Random random) {
      this.random = random;
      this.model = new CareModel(random);
    }

    void run() {
      model.append();
      for (int step = 0; step < STEPS; step++) {
        model.pass(Duration.ofMinutes(random.nextInt(24 * 60)));
        step();
        model.settle();
        model.requireRetained();
        model.requireContents(model.newestVersion());
      }
      model.retained().forEach(model::requireContents);
      readers.forEach(this::read);
      model.pass(Duration.ofHours(100));
      // Deletes the manifests that killed expiries left.
      model.table.expire(ExpireOptions.defaults().withKeepVersions(1000));
      model.table.sweep(
          SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> count("files swept", 1));
      model.settle();
      assertThat(model.storage.names()).isEqualTo(model.namedFiles());
      model.retained().forEach(model::requireContents);
    }

    private void step() {
      switch (random.nextInt(15)) {
        case 0 -> model.write(); // A write that fails before it commits.
        case 1 -> model.addField();
        case 2 -> commitWaiting();
        case 3, 4 -> read();
        case 5, 6, 7 -> rebalance();
        case 8 -> waitingRebalance();
        case 9 -> killed("expiries killed", this::expireWithDeath);
        case 10 -> killed("sweeps killed", this::sweep);
        case 11 -> killed("tags killed", this::tag);
        default -> simpleStep();
      }
    }

    /** Takes a step that may happen at any call of a rebalance. */
    private void simpleStep() {
      model.settle();
      switch (random.nextInt(9)) {
        case 0, 1, 2 -> model.append();
        case 3 -> model.overwrite();
        case 4 -> tag(model.storage);
        case 5 -> untag();
        case 6 -> expire(model.storage);
        case 7 -> sweep(model.storage);
        default -> rebalance(plan(model.storage));
      }
      model.settle();
    }

    private void commitWaiting() {
      if (waitingAppend == null) {
        waitingAppend = model.write();
        return;
      }
      try {
        // Of a schema that may be another now, and of files that may have been swept.
        model.commit(TableChange.Kind.APPEND, waitingAppend);
      } catch (CommitConflictException | CommitOutcomeUnknownException e) {
        count("appends refused", 1);
      } catch (ZRecordException e) {
        assertThat(e).isInstanceOf(MissingFileException.class);
      }
      waitingAppend = null;
    }

    private void read() {
      long version = any(model.retained());
      RecordDataset reader = readers.remove(version);
      if (reader != null) {
        count("readers of old versions", 1);
        read(version, reader);
      } else {
        readers.put(
            version,
            RecordDataset.open(model.table.version(version), RecordDataset.ReadOptions.defaults()));
      }
    }

    /** Reads a version, which need not be readable any more if it was expired. */
    private void read(long version, RecordDataset reader) {
      try (reader) {
        if (model.retained().contains(version)) {
          model.requireContents(version, reader);
        }
      }
    }

    private RebalancePlan plan(Storage storage) {
      int length = model.contents.get(model.newestVersion()).size();
      RebalanceOptions options = RebalanceOptions.defaults()
          .withShardBytes(random.nextBoolean() ? MIB : random.nextInt(4000), MIB)
          .withMinUtilization(random.nextDouble())
          .withWrite(WriteOptions.defaults()
              .withStripeBytes(1 << 16)
              .withChunkBytes(4096 + random.nextInt(8192))
              .withDurability(Durability.NONE));
      if (random.nextBoolean()) {
        int from = random.nextInt(length + 1);
        options = options.withIndices(from, from + random.nextInt(length + 1));
      }
      if (random.nextInt(4) == 0) {
        options = options.withMaxRunBytes(1 + random.nextInt(2000));
      }
      if (random.nextInt(3) == 0) {
        Codec codec = any(List.of(Codec.values()));
        options = options.withCompression(Map.of("text", Compression.of(codec)));
      }
      return RebalancePlan.of(RecordTable.at(storage, model).latest(), options);
    }

    private void rebalance() {
      int call = random.nextInt(150);
      switch (random.nextInt(4)) {
        case 0 -> rebalance(plan(model.storage));
        case 1 -> killed("rebalances killed", storage -> rebalance(plan(storage)));
        case 2 -> failingRebalance(call);
        default ->
          rebalance(plan(
              new InterruptedStorage(model.storage.elsewhere(), call, this::simpleStep).storage()));
      }
    }

    private void waitingRebalance() {
      if (waitingPlan == null) {
        waitingPlan = plan(model.storage);
      } else {
        rebalance(waitingPlan);
        waitingPlan = null;
      }
    }

    private void rebalance(RebalancePlan plan) {
      RebalanceResult result = TableRebalance.of(plan).threads(1).run();
      assertThat(result.groups() + result.failures().size())
          .isEqualTo(plan.groups().size());
      for (RebalanceResult.Failure failure : result.failures()) {
        assertThat(failure.reason())
            .containsAnyOf("plan again", "There is no file", "is missing; run the write again");
      }
      count("groups rewritten", result.groups());
      count("groups that conflict", result.failures().size());
      model.settle();
    }

    /** Runs a rebalance that fails at a call; what it reports is what happened. */
    private void failingRebalance(int call) {
      FaultyStorage.Fault fault = any(List.of(FaultyStorage.Fault.values()));
      FaultyStorage faulty =
          new FaultyStorage(model.storage.elsewhere(), fault, call, 1 + random.nextInt(3));
      long before = model.newestVersion();
      try {
        RebalanceResult result = TableRebalance.of(plan(faulty)).threads(1).run();
        model.settle();
        assertThat(model.newestVersion() - before).isEqualTo(result.groups());
        count("rebalances with failures", result.failures().isEmpty() ? 0 : 1);
      } catch (ZRecordException e) {
        count("rebalances with failures", 1);
      } finally {
        faulty.landDelayed();
      }
      model.settle();
    }

    /** One who works on a storage. */
    private interface Work {
      void run(Storage storage);
    }

    private void killed(String what, Work work) {
      // An expiry has few calls.
      int call = random.nextInt(random.nextBoolean() ? 25 : 200);
      MortalStorage mortal = new MortalStorage(model.storage.elsewhere(), call);
      try {
        work.run(mortal.storage());
      } catch (MortalStorage.KilledError e) {
        count(what, 1);
      } catch (IllegalStateException e) {
        assertThat(e).hasCauseInstanceOf(MortalStorage.KilledError.class);
        count(what, 1);
      }
    }

    /** Tags a version. If that is cut short the table tells whether there is a tag. */
    private void tag(Storage storage) {
      long version = any(model.retained());
      String name = "tag-" + version;
      boolean isDone = false;
      try {
        RecordTable.at(storage, model).tag(version, name);
        isDone = true;
      } finally {
        boolean isThere = model.table.tags().stream().anyMatch(tag -> tag.name().equals(name));
        assertThat(isThere || !isDone).isTrue();
        if (isThere) {
          model.tags.put(name, version);
        }
      }
      count("versions tagged", 1);
    }

    private void untag() {
      if (!model.tags.isEmpty()) {
        String name = any(model.tags.keySet());
        model.table.untag(name);
        model.tags.remove(name);
      }
    }

    private ExpireOptions expireOptions() {
      return ExpireOptions.defaults()
          .withKeepVersions(1 + random.nextInt(4))
          .withOlderThan(Duration.ofHours(1 + random.nextInt(72)))
          .withMode(random.nextInt(4) == 0 ? CareMode.DRY_RUN : CareMode.DELETE);
    }

    private void expire(Storage storage) {
      ExpireOptions options = expireOptions();
      Set<Long> due = model.due(options);
      long floor = model.floor(options);
      ExpireResult result = RecordTable.at(storage, model).expire(options);
      assertThat(result.expired()).containsExactlyElementsOf(due);
      if (options.mode() == CareMode.DELETE) {
        count("versions expired", due.size());
        model.expired(floor);
        // Without the version that the expiry made.
        assertThat(result.keptCount()).isEqualTo(model.retained().size());
      }
    }

    /** Expires with a death in between: all of the versions that are due are gone, or none. */
    private void expireWithDeath(Storage storage) {
      ExpireOptions options = expireOptions();
      long floor = model.floor(options);
      try {
        RecordTable.at(storage, model).expire(options);
      } finally {
        long now = new ManifestLog(model.storage).newest().orElseThrow().oldest();
        assertThat(now).isIn(model.oldestVersion(), floor);
        model.expired(now);
      }
    }

    private void sweep(Storage storage) {
      SweepOptions options = SweepOptions.defaults()
          .withOlderThan(Duration.ofHours(1 + random.nextInt(96)))
          .withMode(random.nextInt(4) == 0 ? CareMode.DRY_RUN : CareMode.DELETE);
      Map<String, Instant> before = new TreeMap<>();
      model.storage.names().forEach(name -> before.put(name, model.storage.modified(name)));
      List<Orphan> orphans = new ArrayList<>();
      try {
        SweepResult result = RecordTable.at(storage, model).sweep(options, orphans::add);
        Set<String> gone = new TreeSet<>(before.keySet());
        gone.removeAll(model.storage.names());
        assertThat(result.fileCount())
            .isEqualTo(orphans.stream().mapToLong(Orphan::fileCount).sum());
        if (options.mode() == CareMode.DELETE) {
          assertThat(gone).hasSize((int) result.fileCount());
          count("files swept", gone.size());
        } else {
          assertThat(gone).isEmpty();
        }
      } finally {
        before.keySet().removeAll(model.storage.names());
        before.forEach((name, modified) ->
            assertThat(modified).isBeforeOrEqualTo(model.instant().minus(options.olderThan())));
      }
    }

    private <T> T any(Collection<T> items) {
      return new ArrayList<>(items).get(random.nextInt(items.size()));
    }
  }
}
