package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Budget;
import io.zrecord.testing.JavaProcess;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Committers that append at once: nothing is lost, nothing is there twice. */
final class CommitRaceTest {
  private static final int COMMITTERS = 8;
  private static final int COMMITS = Budget.of(50);

  /** Of the control, which shows nothing with few of them. */
  private static final int NAIVE_COMMITS = 50;

  @TempDir
  Path directory;

  @Test
  void threadsThatAppendLoseNothing() throws Exception {
    Set<UUID> written = race(COMMITTERS, COMMITS, true);
    assertThat(written).hasSize(COMMITTERS * COMMITS);
    TableSnapshot newest = RecordTable.at(LocalStorage.at(directory)).latest();
    assertThat(newest.shards())
        .extracting(ShardSummary::id)
        .containsExactlyInAnyOrderElementsOf(written);
    assertThat(newest.version()).isEqualTo(COMMITTERS * COMMITS - 1);
    timestampsRise();
  }

  /**
   * The control: a committer that writes over the name of the next version loses commits in the
   * same race. Most of them find that before they acknowledge the commit.
   */
  @Test
  void aNaiveCommitLosesCommitsInTheSameRace() throws Exception {
    assertThat(race(COMMITTERS, NAIVE_COMMITS, false)).isNotEmpty();
    Manifest newest = ManifestLog.ofARepair(LocalStorage.at(directory)).newest().orElseThrow();
    assertThat(newest.shards()).hasSizeLessThan(COMMITTERS * NAIVE_COMMITS);
  }

  @Test
  void processesThatAppendLoseNothing() throws Exception {
    List<Process> processes = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      processes.add(JavaProcess.of(CommitRaceTest.class)
          .small()
          .start(directory.resolve("table").toString()));
    }
    for (Process process : processes) {
      assertThat(process.getInputStream().readAllBytes()).isEmpty();
      assertThat(process.waitFor()).isZero();
    }
    TableSnapshot newest =
        RecordTable.at(LocalStorage.at(directory.resolve("table"))).latest();
    assertThat(newest.shards())
        .extracting(ShardSummary::id)
        .doesNotHaveDuplicates()
        .hasSize(2 * COMMITS);
  }

  /** Runs one of the processes. */
  public static void main(String[] arguments) {
    Storage storage = LocalStorage.at(Path.of(arguments[0]));
    for (int i = 0; i < COMMITS; i++) {
      append(storage, i);
    }
  }

  private static ShardSummary append(Storage storage, long value) {
    RecordTable table = RecordTable.at(storage);
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, value);
    table.commit(Shards.append(Shards.newest(table), shard));
    return shard;
  }

  /** Appends, or is told that nobody knows, or that the base was replaced. */
  private static Optional<ShardSummary> tryAppend(Storage storage, long value) {
    try {
      return Optional.of(append(storage, value));
    } catch (CommitOutcomeUnknownException | CorruptDataException e) {
      return Optional.empty();
    }
  }

  private Set<UUID> race(int committers, int commits, boolean isSafe) throws Exception {
    Storage local = LocalStorage.at(directory);
    // With the hint, a naive commit finds earlier that the chain is broken.
    Storage storage = isSafe ? local : new WithoutHint(new OverwritingStorage(local, directory));
    ExecutorService threads = Executors.newFixedThreadPool(committers);
    try {
      List<Callable<Set<UUID>>> tasks = new ArrayList<>();
      for (int i = 0; i < committers; i++) {
        tasks.add(() -> {
          Set<UUID> ids = new HashSet<>();
          for (int commit = 0; commit < commits; commit++) {
            if (isSafe) {
              ids.add(append(storage, commit).id());
            } else {
              tryAppend(storage, commit).ifPresent(shard -> ids.add(shard.id()));
            }
          }
          return ids;
        });
      }
      Set<UUID> written = new HashSet<>();
      for (Future<Set<UUID>> future : threads.invokeAll(tasks)) {
        written.addAll(future.get());
      }
      return written;
    } finally {
      threads.shutdownNow();
    }
  }

  private void timestampsRise() {
    RecordTable table = RecordTable.at(LocalStorage.at(directory));
    Instant previous = Instant.MIN;
    for (long version : table.versions()) {
      TableSnapshot snapshot = table.version(version);
      assertThat(snapshot.timestamp()).isAfter(previous);
      assertThat(table.asOf(snapshot.timestamp()).version()).isEqualTo(version);
      previous = snapshot.timestamp();
    }
    assertThat(Shards.newest(table)).isEqualTo(OptionalLong.of(COMMITTERS * COMMITS - 1));
  }
}
