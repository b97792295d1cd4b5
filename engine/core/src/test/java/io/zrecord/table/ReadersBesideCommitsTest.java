package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Budget;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Readers beside commits and expiries are never told of damage, and never read back in time. */
final class ReadersBesideCommitsTest {
  private static final int COMMITTERS = 3;

  @TempDir
  Path directory;

  private final AtomicInteger working = new AtomicInteger(COMMITTERS);
  private final AtomicLong acknowledged = new AtomicLong();

  private Void commit(int commits) {
    RecordTable table = RecordTable.at(LocalStorage.at(directory));
    try {
      for (int i = 0; i < commits; i++) {
        try {
          TableSnapshot committed = table.commit(
              Shards.append(Shards.newest(table), Shards.write(table.storage(), Shards.SCHEMA, i)));
          acknowledged.accumulateAndGet(committed.version(), Math::max);
        } catch (CommitOutcomeUnknownException e) {
          // An expiry, whose clock is far ahead, came between.
        }
      }
    } finally {
      working.decrementAndGet();
    }
    return null;
  }

  private Void expire() {
    while (working.get() > 0) {
      try {
        LaterTable.expire(LocalStorage.at(directory), 3);
      } catch (CommitOutcomeUnknownException e) {
        // The same.
      }
    }
    return null;
  }

  private Integer read(Storage storage, Random random) {
    RecordTable table = RecordTable.at(storage);
    int reads = 0;
    do {
      long before = acknowledged.get();
      TableSnapshot newest = table.latest();
      assertThat(newest.version()).isGreaterThanOrEqualTo(before);
      long wanted = Math.max(0, newest.version() - random.nextInt(6));
      try {
        assertThat(table.version(wanted).version()).isEqualTo(wanted);
      } catch (VersionNotFoundException e) {
        // It was expired.
      }
      reads++;
    } while (working.get() > 0);
    return reads;
  }

  @Test
  void aRaceIsNoDamage() throws Exception {
    Storage storage = LocalStorage.at(directory);
    RecordTable.at(storage)
        .commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 0)));
    int commits = Budget.of(200);
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      List<Future<?>> done = new ArrayList<>();
      for (int i = 0; i < COMMITTERS; i++) {
        done.add(threads.submit(() -> commit(commits)));
      }
      done.add(threads.submit((Callable<Void>) this::expire));
      Random random = Budget.random();
      for (Storage read : List.of(storage, new WithoutHint(storage))) {
        Random own = new Random(random.nextLong());
        done.add(threads.submit(() -> read(read, own)));
      }
      for (Future<?> future : done) {
        future.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(RecordTable.at(storage).latest().version())
        .isGreaterThanOrEqualTo(acknowledged.get());
    assertThat(acknowledged.get()).isPositive();
  }

  /**
   * A storage that overwrites takes the version of one commit for that of another. The second one
   * is told, and so are readers.
   */
  @Test
  void aCommitThatOverwritesAnotherIsFound() {
    Storage storage = LocalStorage.at(directory);
    RecordTable table = RecordTable.at(storage);
    table.commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 0)));
    Storage overwriting = new OverwritingStorage(storage, directory) {
      @Override
      public boolean publish(String name, byte[] content) {
        if (name.equals(ManifestNames.nameOf(1))) {
          table.commit(Shards.append(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 1)));
        }
        return super.publish(name, content);
      }
    };
    assertThatThrownBy(() -> RecordTable.at(overwriting)
            .commit(Shards.append(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 2))))
        .isInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("the storage let one overwrite the other");
    assertThatThrownBy(table::latest)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("the storage let one commit overwrite another");
  }
}
