package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.findings.Finding;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.JavaProcess;
import io.zrecord.verify.DatasetCheck;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Writers that append, update and delete are killed (SIGKILL) at random moments, over and over on
 * one store. This process knows which operations they were told of as committed: those must be
 * there, and nothing that was never done.
 */
class StoreKillTest {
  private static final int KILLS = Math.max(2, Budget.of(40));
  private static final long SEED = Budget.seed();
  private static final int LENGTH = 500;
  private static final StoreOptions OPTIONS =
      StoreOptions.defaults().withChunkBytes(1 << 20).withCheckpointBytes(1 << 18);

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @Test
  void whatWasAcknowledgedIsThereAfterEveryKill() throws Exception {
    Path path = directory.resolve("store");
    RecordStore.create(path, StoreModel.SCHEMA, OPTIONS).close();
    Random random = new Random(SEED);
    StoreModel model = new StoreModel(SEED, LENGTH);
    long committed = 0;
    long lost = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      long start = model.operationCount();
      // Before or after its first commit, however busy the machine is.
      long acknowledged = runUntilKilled(path, start, kill % 2, random.nextInt(150));
      committed += acknowledged - start;
      while (model.operationCount() < acknowledged) {
        model.next(null);
      }
      List<Finding> findings = new ArrayList<>();
      DatasetCheck.of(path.toString()).run(findings::add);
      assertThat(findings)
          .as("seed %d, kill %d", SEED, kill)
          .noneMatch(finding -> finding.kind().isDamage());
      try (RecordStore store = RecordStore.open(path, OPTIONS)) {
        String difference = model.differenceFrom(store);
        // A group may be safe of which the writer could not say so any more.
        for (int extra = 0; difference != null && extra < Writer.GROUP_OPERATIONS; extra++) {
          model.next(null);
          lost++;
          if (store.length() == model.length()) {
            difference = model.differenceFrom(store);
          }
        }
        assertThat(difference).as("seed %d, kill %d", SEED, kill).isNull();
      }
    }
    System.out.printf(
        "%d kills, seed %d: %d operations acknowledged, %d more had become safe, 0 lost%n",
        KILLS, SEED, committed, lost);
    assertThat(committed).isPositive();
  }

  /** Returns how many operations were acknowledged, in all. */
  private static long runUntilKilled(Path path, long start, int commits, int delayMillis)
      throws IOException, InterruptedException {
    Process process = JavaProcess.of(Writer.class)
        .small()
        .start(path.toString(), Long.toString(start), Long.toString(SEED));
    long acknowledged = start;
    try (BufferedReader lines = new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      Thread killer = new Thread(() -> {
        try {
          TimeUnit.MILLISECONDS.sleep(delayMillis);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
        JavaProcess.kill(process);
      });
      String line = lines.readLine();
      for (int said = 0; line != null; said++) {
        if (said == commits) {
          killer.start();
        }
        acknowledged = Long.parseLong(line);
        line = lines.readLine();
      }
      killer.join();
    }
    JavaProcess.requireKilled(process);
    return acknowledged;
  }

  /**
   * Goes on with the operations of a seed from a number on, commits groups of them, and says how
   * many are committed.
   */
  static final class Writer {
    static final int GROUP_OPERATIONS = 40;

    private Writer() {}

    public static void main(String[] arguments) {
      StoreModel model = new StoreModel(Long.parseLong(arguments[2]), LENGTH);
      while (model.operationCount() < Long.parseLong(arguments[1])) {
        model.next(null);
      }
      try (RecordStore store = RecordStore.open(Path.of(arguments[0]), OPTIONS)) {
        Random random = new Random(model.operationCount());
        System.out.println(model.operationCount());
        while (model.operationCount() < Long.MAX_VALUE) {
          int group = 1 + random.nextInt(GROUP_OPERATIONS);
          for (int i = 0; i < group; i++) {
            model.next(store);
          }
          store.commit();
          System.out.println(model.operationCount());
        }
      }
    }
  }
}
