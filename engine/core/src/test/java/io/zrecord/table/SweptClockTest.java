package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.shard.ShardSummary;
import io.zrecord.testing.MemoryStorage;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** A sweep under a clock of the storage that was ahead, and everything after the clock was set. */
final class SweptClockTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final Duration AHEAD = Duration.ofDays(3650);
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);

  private Instant time = NOW;
  private final MemoryStorage storage = new MemoryStorage(() -> time);
  private final RecordTable table = RecordTable.at(storage, () -> time);

  private void append() {
    table.commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 1, 2)));
  }

  private void sweep() {
    table.sweep(SWEEP, orphan -> {});
  }

  /** Leaves what no version names. */
  private void leaveOrphan() {
    Shards.write(storage, Shards.SCHEMA, 5);
  }

  @Test
  void afterTheNextSweepAppendsAreAcceptedAgain() {
    append();
    leaveOrphan();
    time = NOW.plus(AHEAD);
    sweep();
    time = NOW.plus(Duration.ofMinutes(1));
    assertThatThrownBy(this::append)
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("2035-12-30T23:00:00Z")
        .hasMessageContaining("sweep again");
    sweep();
    time = NOW.plus(Duration.ofMinutes(2));
    append();
    assertThat(table.latest().length()).isEqualTo(4);
  }

  @Test
  void whatASweepSaidStaysIfTheNextHasAnEarlierLimit() {
    append();
    leaveOrphan();
    time = NOW.plus(Duration.ofHours(20));
    sweep();
    written(Duration.ofHours(1));
    time = NOW.plus(Duration.ofHours(22));
    long deleted =
        table.sweep(SWEEP.withOlderThan(Duration.ofHours(15)), orphan -> {}).fileCount();
    assertThat(deleted).isPositive();
    ShardSummary old = written(Duration.ofHours(18));
    assertThatThrownBy(() -> table.commit(Shards.append(OptionalLong.empty(), old)))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("run the write again");
  }

  /** Writes a shard some time after the beginning. */
  private ShardSummary written(Duration after) {
    Instant now = time;
    time = NOW.plus(after);
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 7);
    time = now;
    return shard;
  }
}
