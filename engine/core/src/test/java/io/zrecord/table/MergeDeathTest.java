package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.changes.RecordMoves;
import io.zrecord.changes.TableChanges;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.TableChange.Transaction;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Cases;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.verify.DatasetCheck;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A merge that deletes, changes, moves and adds records, and whose driver dies before any call of
 * its storage, with or without a power loss: the version before or the next one is there, another
 * attempt with the same key takes effect once, and a sweep leaves no file that no version names.
 */
final class MergeDeathTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final Transaction KEY = new Transaction("job", 1);
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);

  /** Records 1 to 3 in partition a, and with a full patch as many more as it has chunks. */
  private final List<Long> before = new ArrayList<>();

  private Instant now = NOW;

  private RecordTable table(Storage storage) {
    InstantSource clock = () -> now;
    return RecordTable.at(storage, clock);
  }

  private MemoryStorage create(long... more) {
    MemoryStorage storage = new MemoryStorage(() -> now);
    before.clear();
    before.addAll(List.of(1L, 2L, 3L));
    LongStream.of(more).forEach(before::add);
    long[] all = before.stream().mapToLong(Long::longValue).toArray();
    before.add(50L);
    table(storage)
        .commit(PartitionedRecords.create(List.of(
            PartitionedRecords.shard(storage, Durability.COMMIT, "a", all),
            PartitionedRecords.shard(storage, Durability.COMMIT, "b", 50))));
    return storage;
  }

  /** Creates a table whose first shard has a patch with as many chunks as a patch may have. */
  private MemoryStorage createWithFullPatch() {
    MemoryStorage storage =
        create(LongStream.range(100, 100 + PatchRef.MOST_CHUNKS).toArray());
    for (int i = 0; i < PatchRef.MOST_CHUNKS; i++) {
      RowChange change = RowChange.of(table(storage).latest());
      change.update(3 + i, "number", 100L + i);
      change.commit(table(storage));
    }
    // Fewer versions are looked at in less time.
    now = NOW.plus(Duration.ofDays(30));
    table(storage).expire(ExpireOptions.defaults());
    now = NOW;
    return storage;
  }

  private List<Long> after() {
    List<Long> after = new ArrayList<>(before);
    after.removeAll(List.of(1L, 3L));
    after.set(0, 200L);
    after.addAll(List.of(3L, 9L));
    return after;
  }

  /** Deletes 1, makes 200 of 2, moves 3 to another partition, if they are there, and adds 9. */
  private TableSnapshot merge(Storage storage, Optional<Transaction> key) {
    TableSnapshot base = table(storage).latest();
    List<Long> numbers = PartitionedRecords.numbers(base);
    ShardSummary shard = base.shards().get(0);
    MergeChange merge = MergeChange.of(base);
    try (ShardWriter target = PartitionedRecords.writer(storage, "c", Durability.COMMIT);
        ShardChangeWriter changes =
            ShardChangeWriter.open(storage, ChangeBase.of(base), shard, Set.of("number"))) {
      int index = numbers.indexOf(3L);
      if (index >= 0 && index < shard.length()) {
        changes.delete(numbers.indexOf(1L));
        changes.update(numbers.indexOf(2L), "number", 200L);
        changes.delete(index);
        target.movedFrom(shard.id(), changes.slotOf(index));
        PartitionedRecords.put(target, 3, "c");
      }
      PartitionedRecords.put(target, 9, "c");
      merge.change(changes.finish()).adding(List.of(target.finish().orElseThrow()));
    }
    key.ifPresent(merge::transaction);
    return merge.commit(table(storage));
  }

  /** Makes another attempt on what is left, and cares for the table. */
  private void requireOnce(Storage left, String what) {
    List<Long> found = PartitionedRecords.numbers(table(left).latest());
    assertThat(found).as(what).isIn(before, after());
    merge(left, Optional.of(KEY));
    long version = table(left).latest().version();
    assertThat(PartitionedRecords.numbers(table(left).latest())).as(what).isEqualTo(after());
    assertThat(PartitionedRecords.kinds(table(left).latest())).as(what).containsEntry(3L, "c");
    RecordMoves moves = TableChanges.of(left).of(version).moves(left);
    assertThat(moves.count()).as(what).isOne();
    assertThat(moves.before(0)).as(what).isEqualTo(2);
    assertThat(moves.after(0)).as(what).isEqualTo(before.size() - 2);
    now = NOW.plus(Duration.ofDays(1));
    table(left).sweep(SWEEP, orphan -> {});
    now = NOW;
    assertThat(PartitionedRecords.numbers(table(left).latest())).as(what).isEqualTo(after());
    assertThat(PartitionedRecords.numbers(table(left).version(version - 1)))
        .as(what)
        .isEqualTo(before);
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(left).allVersions().run(findings::add);
    assertThat(findings).as(what).isEmpty();
  }

  private void requireOnce(MemoryStorage table) {
    MemoryStorage whole = table.afterPowerLoss();
    MortalStorage immortal = new MortalStorage(whole, Integer.MAX_VALUE);
    long version = merge(immortal.storage(), Optional.of(KEY)).version();
    requireOnce(whole, "whole");
    assertThat(version).isEqualTo(table(table).latest().version() + 1);
    for (long call : Cases.before(immortal.calls())) {
      MemoryStorage memory = table.afterPowerLoss();
      die(memory, call, Optional.of(KEY));
      MemoryStorage afterPowerLoss = memory.afterPowerLoss();
      requireOnce(memory.elsewhere(), "killed before call " + call);
      requireOnce(afterPowerLoss, "killed before call " + call + ", and power lost");
    }
  }

  private void die(Storage storage, long call, Optional<Transaction> key) {
    MortalStorage mortal = new MortalStorage(storage, (int) call);
    try {
      merge(mortal.storage(), key);
    } catch (MortalStorage.KilledError e) {
      // Its driver is dead.
    }
    assertThat(mortal.isKilled()).isTrue();
  }

  /** Lets calls that change something fail, from each of them on. */
  private void requireOnceAfterFailures(MemoryStorage table, int failing) {
    MemoryStorage whole = table.afterPowerLoss();
    merge(whole, Optional.of(KEY));
    for (long call : Cases.before(whole.log().size())) {
      MemoryStorage memory = table.afterPowerLoss();
      try {
        merge(memory.failingFrom((int) call, failing), Optional.of(KEY));
      } catch (ZRecordException e) {
        // What it has left is the matter of the next attempt.
      }
      MemoryStorage afterPowerLoss = memory.afterPowerLoss();
      memory.failingFrom(Integer.MAX_VALUE, 1);
      requireOnce(memory.elsewhere(), "refused from call " + call);
      requireOnce(afterPowerLoss, "refused from call " + call + ", and power lost");
    }
  }

  @Test
  void soItIsIfTheStorageRefusesACallOrAllFromThereOn() {
    requireOnceAfterFailures(create(), 1);
    requireOnceAfterFailures(create(), Integer.MAX_VALUE);
  }

  @Test
  void aDriverThatDiesHasMergedAllOrNothingAndAnotherAttemptMergesOnce() {
    requireOnce(create());
  }

  @Test
  void soItIsIfFieldsGoToTablesOfTheirOwn() {
    MemoryStorage table = createWithFullPatch();
    MemoryStorage merged = table.afterPowerLoss();
    Set<UUID> files = new HashSet<>();
    merge(merged, Optional.empty()).shards().get(0).tables().forEach(file -> files.add(file.id()));
    table(table).latest().shards().get(0).tables().forEach(file -> files.remove(file.id()));
    assertThat(files).hasSize(1);
    requireOnce(table);
  }

  /** Control: without a key, another attempt adds its records again. */
  @Test
  void withoutAKeyRecordsAreAddedTwice() {
    MemoryStorage table = create();
    MortalStorage immortal = new MortalStorage(table.afterPowerLoss(), Integer.MAX_VALUE);
    merge(immortal.storage(), Optional.empty());
    List<List<Long>> found = new ArrayList<>();
    for (int call = 0; call < immortal.calls(); call++) {
      MemoryStorage memory = table.afterPowerLoss();
      die(memory, call, Optional.empty());
      Storage left = memory.elsewhere();
      merge(left, Optional.empty());
      found.add(PartitionedRecords.numbers(table(left).latest()));
    }
    List<Long> twice = after();
    twice.add(9L);
    assertThat(found).contains(after(), twice);
  }
}
