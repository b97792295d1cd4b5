package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Budget;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.JavaProcess;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Committers that append at once: nothing is lost, nothing is there twice. */
final class CommitRaceTest {
  private static final int COMMITTERS = 8;
  private static final int COMMITS = Budget.of(50);

  @TempDir
  Path directory;

  @Test
  void threadsThatAppendLoseNothing() throws Exception {
    Set<UUID> written = race();
    assertThat(written).hasSize(COMMITTERS * COMMITS);
    TableSnapshot newest = RecordTable.at(LocalStorage.at(directory)).latest();
    assertThat(newest.shards())
        .extracting(ShardSummary::id)
        .containsExactlyInAnyOrderElementsOf(written);
    assertThat(newest.version()).isEqualTo(COMMITTERS * COMMITS - 1);
    timestampsRise();
  }

  /**
   * A committer publishes after another has acknowledged the same version. The control is a storage
   * that lets it write over the name: the acknowledged commit is lost there.
   */
  @ParameterizedTest(name = "may overwrite: {0}")
  @ValueSource(booleans = {false, true})
  void aCommitThatComesLateLosesAnotherOnlyWhereNamesAreOverwritten(boolean mayOverwrite) {
    // With the hint, the late committer finds that it overwrote, and does not acknowledge.
    Storage local = new WithoutHint(LocalStorage.at(directory));
    append(local, 0);
    List<UUID> acknowledged = new ArrayList<>();
    Storage late =
        new ForwardingStorage(mayOverwrite ? new OverwritingStorage(local, directory) : local) {
          @Override
          public boolean publish(String name, byte[] content) {
            if (name.equals(ManifestNames.nameOf(1)) && acknowledged.isEmpty()) {
              acknowledged.add(append(local, 1).id());
            }
            return super.publish(name, content);
          }
        };
    acknowledged.add(append(late, 2).id());
    assertThat(acknowledged).hasSize(2);
    List<UUID> kept = ManifestLog.ofARepair(local).newest().orElseThrow().shards().stream()
        .map(ShardSummary::id)
        .toList();
    assertThat(kept.containsAll(acknowledged)).isNotEqualTo(mayOverwrite);
    assertThat(kept).contains(acknowledged.get(1));
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

  private Set<UUID> race() throws Exception {
    Storage storage = LocalStorage.at(directory);
    ExecutorService threads = Executors.newFixedThreadPool(COMMITTERS);
    try {
      List<Callable<Set<UUID>>> tasks = new ArrayList<>();
      for (int i = 0; i < COMMITTERS; i++) {
        tasks.add(() -> {
          Set<UUID> ids = new HashSet<>();
          for (int commit = 0; commit < COMMITS; commit++) {
            ids.add(append(storage, commit).id());
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
