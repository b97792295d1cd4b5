package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Cases;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.verify.DatasetCheck;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * A drop of a table with history that dies before any call of its storage, with or without a power
 * loss, or is refused calls: the table is there with all its versions, or there is none. Another
 * drop and a sweep leave nothing but the manifest that says so.
 */
final class TableDropDeathTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);

  private Instant now = NOW;
  private UUID tableId = new UUID(0, 0);

  /** Moves on at each look. */
  private final InstantSource clock = () -> {
    now = now.plusMillis(1);
    return now;
  };

  private RecordTable table(Storage storage) {
    return RecordTable.at(storage, clock);
  }

  private static ShardSummary shard(Storage storage) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.COMMIT);
    try (ShardWriter writer =
        ShardWriter.create(storage, UUID.randomUUID(), Shards.SCHEMA, options)) {
      for (long value = 1; value <= 3; value++) {
        writer.putLong(0, value);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  /** Makes a table of four versions and a tag, of which each has files of its own. */
  private MemoryStorage create() {
    MemoryStorage storage = new MemoryStorage(clock);
    RecordTable table = table(storage);
    tableId = table.commit(Shards.append(OptionalLong.empty(), shard(storage))).tableId();
    table.tag(0, "kept");
    RowChange change = RowChange.of(table.latest());
    change.delete(1);
    change.commit(table);
    table.commit(Shards.overwrite(OptionalLong.of(2), shard(storage)));
    return storage.afterPowerLoss();
  }

  private void drop(Storage storage) {
    table(storage).drop(tableId, DropOptions.defaults());
  }

  /** Requires a whole table or none, and that another drop and a sweep end the drop. */
  private void requireWholeOrNone(Storage left, String what) {
    RecordTable table = table(left);
    if (table.exists()) {
      assertThat(table.versions()).as(what).containsExactly(0L, 1L, 2L, 3L);
      for (long version : table.versions()) {
        new ShardCheck(left).check(table.version(version).shards());
      }
      assertThat(table.tagged("kept").length()).as(what).isEqualTo(3);
    }
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(left).allVersions().run(findings::add).isSound())
        .as("%s: %s", what, findings)
        .isTrue();
    drop(left);
    assertThat(table.exists()).as(what).isFalse();
    requireNothingElse(left, what);
  }

  private void requireNothingElse(Storage left, String what) {
    now = now.plus(Duration.ofDays(1));
    table(left).sweep(SWEEP, orphan -> {});
    long number = new ManifestLog(left).last().orElseThrow().version();
    assertThat(left.listTree(""))
        .as(what)
        .extracting(file -> file.name())
        .contains(ManifestNames.nameOf(number))
        .allMatch(
            name -> name.equals(ManifestNames.nameOf(number)) || name.equals(ManifestNames.HINT));
  }

  @Test
  void aDropThatDiesLeavesTheTableOrNoneAndAnotherEndsIt() {
    MemoryStorage table = create();
    MortalStorage immortal = new MortalStorage(table.afterPowerLoss(), Integer.MAX_VALUE);
    drop(immortal.storage());
    for (long call : Cases.before(immortal.calls())) {
      MemoryStorage memory = table.afterPowerLoss();
      MortalStorage mortal = new MortalStorage(memory, (int) call);
      try {
        drop(mortal.storage());
      } catch (MortalStorage.KilledError e) {
        // Whoever dropped it is dead.
      }
      MemoryStorage afterPowerLoss = memory.afterPowerLoss(memory.pendingDeletions());
      requireWholeOrNone(memory.elsewhere(), "killed before call " + call);
      requireWholeOrNone(afterPowerLoss, "killed before call " + call + ", and power lost");
    }
  }

  /** A sweep alone ends it as well, without knowing which table was there. */
  @Test
  void aSweepEndsADropThatDied() {
    MemoryStorage table = create();
    MortalStorage immortal = new MortalStorage(table.afterPowerLoss(), Integer.MAX_VALUE);
    drop(immortal.storage());
    int ended = 0;
    for (int call = 0; call < immortal.calls(); call++) {
      MemoryStorage memory = table.afterPowerLoss();
      try {
        drop(new MortalStorage(memory, call).storage());
      } catch (MortalStorage.KilledError e) {
        // Whoever dropped it is dead.
      }
      if (!table(memory).exists()) {
        requireNothingElse(memory, "killed before call " + call);
        ended++;
      }
    }
    assertThat(ended).isGreaterThan(5);
  }

  @Test
  void soItIsIfTheStorageRefusesACallOrAllFromThereOn() {
    MemoryStorage table = create();
    MemoryStorage whole = table.afterPowerLoss();
    drop(whole);
    int calls = whole.log().size();
    for (int count : new int[] {1, Integer.MAX_VALUE}) {
      for (int call = 0; call < calls; call++) {
        MemoryStorage memory = table.afterPowerLoss();
        String said = "nothing";
        try {
          drop(memory.failingFrom(call, count));
        } catch (CommitOutcomeUnknownException e) {
          said = "unknown";
        } catch (ZRecordException e) {
          said = String.valueOf(e.getMessage());
        }
        memory.failingFrom(Integer.MAX_VALUE, 1);
        requireWholeOrNone(memory, "refused from call " + call + ", said " + said);
      }
    }
  }

  /** Control: files that are deleted before the drop is published are missing in the table. */
  @Test
  void aDropThatDeletesBeforeItPublishesLosesATable() {
    MemoryStorage table = create();
    List<String> damaged = new ArrayList<>();
    for (int call = 0; call < 20; call++) {
      MemoryStorage memory = table.afterPowerLoss();
      try {
        Storage mortal = new MortalStorage(memory, call).storage();
        NamedFiles named = new NamedFiles(mortal);
        named.refresh();
        new DroppedFiles(mortal).delete(named);
        drop(mortal);
      } catch (MortalStorage.KilledError e) {
        // Whoever dropped it is dead.
      }
      try {
        if (table(memory).exists()) {
          new ShardCheck(memory).check(table(memory).latest().shards());
        }
      } catch (MissingFileException e) {
        damaged.add(String.valueOf(e.getMessage()));
      }
    }
    assertThat(damaged).isNotEmpty();
  }
}
