package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.TableChanges;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding;
import io.zrecord.read.FieldReader;
import io.zrecord.read.IndexSet;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.testing.Cases;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.verify.DatasetCheck;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Two attempts of a task that write the change of one shard, of which one is given to the commit.
 * The other one dies before any of its calls, or sleeps there while the change is committed and
 * swept, and ends then: what was given takes effect, and a sweep deletes what the other one left.
 */
final class SpeculativeTasksTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);
  private static final int RECORDS = PatchRef.MOST_CHUNKS + 6;

  /** No change before has given a value to this record or a later one. */
  private static final int FIRST_CHANGED = PatchRef.MOST_CHUNKS;

  private Instant now = NOW;

  /** How the attempt ends that is not given to the commit. */
  private enum Loser {
    DIES,
    SLEEPS_FOR_A_MOMENT,
    /** Its files are swept meanwhile. */
    SLEEPS_FOR_A_DAY
  }

  private RecordTable table(Storage storage) {
    InstantSource clock = () -> now;
    return RecordTable.at(storage, clock);
  }

  /** Creates a table of the values from 0 on in one shard. */
  private MemoryStorage create() {
    MemoryStorage storage = new MemoryStorage(() -> now);
    long[] values = LongStream.range(0, RECORDS).toArray();
    table(storage)
        .commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, values)));
    return copy(storage);
  }

  /** Creates such a table whose shard has a patch with as many chunks as a patch may have. */
  private MemoryStorage createWithFullPatch() {
    MemoryStorage storage = create();
    for (int i = 0; i < PatchRef.MOST_CHUNKS; i++) {
      RowChange change = RowChange.of(table(storage).latest());
      change.update(i, "value", (long) i);
      change.commit(table(storage));
    }
    // Fewer versions are looked at in less time.
    now = NOW.plus(Duration.ofDays(30));
    table(storage).expire(ExpireOptions.defaults());
    now = NOW;
    return copy(storage);
  }

  private MemoryStorage copy(MemoryStorage storage) {
    MemoryStorage copy = new MemoryStorage(() -> now);
    storage.names().forEach(name -> copy.overwrite(name, storage.read(name, 1 << 24)));
    return copy;
  }

  /** Deletes a record, and gives others values by which the attempt is known. */
  private ShardChange attempt(Storage storage, TableSnapshot base, long number) {
    try (ShardChangeWriter writer = ShardChangeWriter.open(
        storage, ChangeBase.of(base), base.shards().get(0), Set.of("value"))) {
      writer.delete(RECORDS - 1);
      for (int i = FIRST_CHANGED; i < RECORDS - 1; i++) {
        writer.update(i, "value", 1000 * number + i);
      }
      return writer.finish();
    }
  }

  private static List<Long> expected(long number) {
    return LongStream.range(0, RECORDS - 1)
        .mapToObj(i -> i >= FIRST_CHANGED ? 1000 * number + i : i)
        .toList();
  }

  private static List<Long> values(TableSnapshot snapshot) {
    List<Long> values = new ArrayList<>();
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("value");
      int length = (int) snapshot.length();
      reader.select(LongStream.range(0, length).toArray(), 0, length);
      for (int i = 0; i < length; i++) {
        values.add(
            ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
      }
    }
    return values;
  }

  private TableSnapshot commit(Storage storage, TableSnapshot base, ShardChange given) {
    return MergeChange.of(base).change(given).commit(table(storage));
  }

  private void sweep(Storage storage) {
    table(storage).sweep(SWEEP, orphan -> {});
  }

  /** Lets an attempt come to a call, and the other one be committed then. */
  private void race(MemoryStorage storage, Loser loser, long call) {
    TableSnapshot base = table(storage).latest();
    ShardChange given = attempt(storage, base, 1);
    Runnable others = () -> {
      commit(storage, base, given);
      now = loser == Loser.SLEEPS_FOR_A_DAY ? NOW.plus(Duration.ofDays(1)) : NOW;
      sweep(storage);
    };
    try {
      if (loser == Loser.DIES) {
        attempt(new MortalStorage(storage, (int) call).storage(), base, 2);
      } else {
        attempt(new InterruptedStorage(storage, (int) call, others).storage(), base, 2);
      }
    } catch (MortalStorage.KilledError e) {
      others.run();
    } catch (ZRecordException e) {
      // It finds a file gone that it has written.
      assertThat(loser).isEqualTo(Loser.SLEEPS_FOR_A_DAY);
    }
  }

  private void requireOnlyTheGivenOne(MemoryStorage table) {
    MemoryStorage whole = copy(table);
    InterruptedStorage counted = new InterruptedStorage(whole, -1, () -> {});
    attempt(counted.storage(), table(whole).latest(), 2);
    for (Loser loser : Loser.values()) {
      for (long call : Cases.before(counted.calls())) {
        now = NOW;
        MemoryStorage storage = copy(table);
        String what = loser + " before call " + call;
        long base = table(storage).latest().version();
        race(storage, loser, call);
        // Each table and each patch is opened anew.
        assertThat(values(table(storage.elsewhere()).latest())).as(what).isEqualTo(expected(1));
        now = NOW.plus(Duration.ofDays(3));
        sweep(storage);
        Storage elsewhere = storage.elsewhere();
        assertThat(values(table(elsewhere).latest())).as(what).isEqualTo(expected(1));
        assertThat(values(table(elsewhere).version(base))).as(what).hasSize(RECORDS);
        RecordChanges told = TableChanges.of(storage)
            .net(base, table(storage).latest().version())
            .records();
        assertThat(told.deleted()).as(what).isEqualTo(IndexSet.of(RECORDS - 1));
        assertThat(told.changedBefore())
            .as(what)
            .isEqualTo(IndexSet.range(FIRST_CHANGED, RECORDS - 1));
        List<Finding> findings = new ArrayList<>();
        DatasetCheck.of(elsewhere).allVersions().run(findings::add);
        assertThat(findings).as(what).isEmpty();
      }
    }
  }

  @Test
  void onlyTheChangeTakesEffectThatIsGivenToTheCommit() {
    requireOnlyTheGivenOne(create());
  }

  @Test
  void soItIsIfTheFieldGoesToTablesOfItsOwn() {
    MemoryStorage table = createWithFullPatch();
    TableSnapshot base = table(table).latest();
    assertThat(attempt(copy(table), base, 1).rewritten()).isNotNull();
    requireOnlyTheGivenOne(table);
  }

  @Test
  void bothAreRefused() {
    MemoryStorage storage = createWithFullPatch();
    TableSnapshot base = table(storage).latest();
    MergeChange both =
        MergeChange.of(base).change(attempt(storage, base, 1)).change(attempt(storage, base, 2));
    assertThatThrownBy(() -> both.commit(table(storage)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("record " + FIRST_CHANGED);
    ShardChange second = attempt(storage, base, 2);
    commit(storage, base, attempt(storage, base, 1));
    assertThatThrownBy(() -> commit(storage, base, second)).isInstanceOf(ZRecordException.class);
    assertThat(values(table(storage).latest())).isEqualTo(expected(1));
  }

  /** Control: who takes the newest shard for the one that was changed commits both. */
  @Test
  void withoutAComparisonOfShardsTheOtherAttemptTakesEffect() {
    MemoryStorage storage = create();
    TableSnapshot base = table(storage).latest();
    ShardSummary second = attempt(storage, base, 2).patched();
    TableSnapshot newest = commit(storage, base, attempt(storage, base, 1));
    table(storage)
        .commit(TableChange.rows(
            newest,
            TableChange.Kind.UPDATE,
            Shards.SCHEMA,
            List.of(TableChange.Replacement.ofRows(newest.shards().get(0), List.of(second))),
            Map.of()));
    assertThat(values(table(storage).latest())).isEqualTo(expected(2));
  }
}
