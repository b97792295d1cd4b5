package io.zrecord.internal.store.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.StoreLockedException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.CheckSummary;
import io.zrecord.findings.Finding;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.store.StoreSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.JavaProcess;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A store is checked while a writer goes on, and where nothing can be written. */
final class CheckBesideWriterTest {
  private static final int CHECKS = Budget.of(20);

  @TempDir
  Path directory;

  private static CheckSummary check(Path path, List<Finding> findings) {
    return DatasetCheck.of(path.toString()).run(findings::add);
  }

  @Test
  void nothingIsFoundOfASoundStoreThatIsBeingWrittenAndDamageIs() throws Exception {
    Path path = SampleStore.closed(directory.resolve("store"));
    AtomicBoolean isOver = new AtomicBoolean();
    AtomicLong commits = new AtomicLong();
    try (RecordStore store = RecordStore.open(
        path, StoreOptions.defaults().withChunkBytes(8 << 10).withCheckpointBytes(1 << 20))) {
      Thread writer = new Thread(() -> {
        for (int i = 0; !isOver.get(); i++) {
          store.append(store.newValues().set("text", "added " + i).set("label", i));
          store.update(10, store.newValues().set("text", "changed " + i).set("label", i));
          if (i % 3 == 0) {
            store.delete(store.pendingLength() - 2);
          }
          store.commit();
          commits.incrementAndGet();
        }
      });
      writer.start();
      try {
        for (int i = 0; i < CHECKS; i++) {
          long before = commits.get();
          List<Finding> findings = new ArrayList<>();
          CheckSummary summary = check(path, findings);
          assertThat(findings).isEmpty();
          assertThat(summary.recordCount()).isGreaterThanOrEqualTo(SampleStore.COUNT);
          while (commits.get() == before) {
            assertThat(writer.isAlive()).isTrue();
            Thread.onSpinWait();
          }
        }
        // The chunk has the first values, which nobody changes.
        Damage.flip(path.resolve("chunk/0.zr"), 64);
        List<Finding> findings = new ArrayList<>();
        check(path, findings);
        assertThat(findings)
            .hasSize(1)
            .allMatch(finding -> finding.kind().isDamage())
            .allMatch(finding -> finding.firstIndex() == 0);
      } finally {
        isOver.set(true);
        writer.join();
      }
    }
  }

  /** Files whose damage is found while a writer has the store open, and where. */
  private enum Damaged {
    META("meta.json", 20, Finding.Kind.META),
    JOURNAL_HEADER("journal", 10, Finding.Kind.JOURNAL),
    JOURNAL_RECORD("journal", 64 + 20, Finding.Kind.JOURNAL),
    LIVE("live", 20, Finding.Kind.LIVE);

    private final String file;
    private final int at;
    private final Finding.Kind kind;

    Damaged(String file, int at, Finding.Kind kind) {
      this.file = file;
      this.at = at;
      this.kind = kind;
    }
  }

  @ParameterizedTest
  @EnumSource(Damaged.class)
  void damageOfAnyFileIsFoundBesideAWriter(Damaged damaged) {
    Path path = SampleStore.closed(directory.resolve("store"));
    RecordStore store = RecordStore.open(path, StoreOptions.defaults());
    try {
      for (int i = 0; i < 3; i++) {
        store.append(store.newValues().set("text", "added"));
        store.commit();
      }
      Damage.flip(path.resolve(damaged.file), damaged.at);
      List<Finding> findings = new ArrayList<>();
      assertThat(check(path, findings).isSound()).isFalse();
      assertThat(findings)
          .filteredOn(finding -> finding.kind().isDamage())
          .extracting(Finding::kind)
          .contains(damaged.kind);
    } finally {
      closeAnyway(store);
    }
  }

  /** The writer may meet the damage when it closes the store. */
  private static void closeAnyway(RecordStore store) {
    try {
      store.close();
    } catch (ZRecordException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }

  @Test
  void aStoreWhoseWriterIsRecoveringIsNotChecked() {
    Path path = SampleStore.closed(directory.resolve("store"));
    ProcessLock lock = ProcessLock.acquire(path);
    assertThatThrownBy(() -> check(path, new ArrayList<>()))
        .isInstanceOf(StoreLockedException.class);
    lock.close();
    assertThat(check(path, new ArrayList<>()).isSound()).isTrue();
  }

  /** Returns a process to which a directory is mounted read-only. */
  private static JavaProcess readOnly(Class<?> program, Path path) {
    return JavaProcess.of(program)
        .small()
        .after("set -- unshare -m bash -c 'mount --bind " + path + " " + path
            + " && mount -o remount,ro,bind " + path + " && exec \"$@\"' bash \"$@\"");
  }

  private static void assumeReadOnlyMounts(Path path) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(
            "unshare", "-m", "bash", "-c", "mount --bind " + path + " " + path)
        .start();
    assumeTrue(process.waitFor() == 0, "this user may not mount");
  }

  /** Checks a store, and prints how many records and findings there are. */
  static final class Checker {
    public static void main(String[] arguments) {
      List<Finding> findings = new ArrayList<>();
      CheckSummary summary = check(Path.of(arguments[0]), findings);
      System.out.println(summary.recordCount() + " records, " + findings);
    }
  }

  /** Makes a snapshot of a store for reading, and prints the failure. */
  static final class Snapshots {
    public static void main(String[] arguments) {
      try {
        StoreSnapshot.temporary(Path.of(arguments[0]));
      } catch (ZRecordException e) {
        System.out.println(e.getClass().getName() + ": " + e.getMessage());
      }
    }
  }

  @Test
  void aStoreOnReadOnlyMediaIsCheckedAlsoBesideAWriter() throws Exception {
    assumeReadOnlyMounts(directory);
    Path closed = SampleStore.closed(directory.resolve("closed"));
    JavaProcess.Result alone = readOnly(Checker.class, closed).run(closed.toString());
    assertThat(alone.output()).contains(SampleStore.COUNT + " records, []");
    try (RecordStore store = RecordStore.open(closed, StoreOptions.defaults())) {
      store.append(store.newValues().set("text", "added"));
      store.commit();
      JavaProcess.Result beside = readOnly(Checker.class, closed).run(closed.toString());
      assertThat(beside.output()).contains((SampleStore.COUNT + 1) + " records, []");
    }
  }

  @Test
  void aSnapshotForReadingOnReadOnlyMediaIsATypedException() throws Exception {
    assumeReadOnlyMounts(directory);
    Path path = SampleStore.closed(directory.resolve("closed"));
    JavaProcess.Result result = readOnly(Snapshots.class, path).run(path.toString());
    assertThat(result.output())
        .contains(FileUnavailableException.class.getName())
        .contains("read-only")
        .contains("StoreReader");
  }
}
