package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.findings.Finding;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.schema.FileStems;
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
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that change a store a little and then rebalance it, over and over, are killed (SIGKILL)
 * at random moments: what was acknowledged is there, at its index, whether the store is the old or
 * the new one, and nothing is left over once it was opened. The first process waits for its kill in
 * the middle of a rebalance, so that there is something left over, however fast the machine is.
 */
class StoreRebalanceKillTest {
  private static final int KILLS = Math.max(3, Budget.of(15));
  private static final long SEED = Budget.seed();
  private static final int LENGTH = 4000;
  private static final int FIRST_OPERATIONS = 8000;
  private static final int GROUP_OPERATIONS = 30;
  private static final StoreOptions OPTIONS =
      StoreOptions.defaults().withChunkBytes(1 << 18).withCheckpointBytes(1 << 18);
  private static final StoreRebalanceOptions ALWAYS = StoreRebalanceOptions.defaults()
      .withMinUtilization(1)
      .withChunkBytes(1 << 17)
      .withStripeBytes(1 << 16);

  /** Of some three rebalances. */
  private static final int MOST_LINES = 150;

  /** Lines of the first rebalance after which the first process waits for its kill. */
  private static final int LINES_OF_A_WAIT = 3;

  private static final double MIN_DELAY_NANOS = 100e3;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  /** What a killed process had said last. */
  private record Said(long acknowledged, boolean wasRebalancing) {}

  @Test
  void theStoreIsTheOldOrTheNewOneAfterEveryKill() throws Exception {
    Path path = directory.resolve("store");
    StoreModel model = new StoreModel(SEED, LENGTH);
    try (RecordStore store = RecordStore.create(path, StoreModel.SCHEMA, OPTIONS)) {
      while (model.operationCount() < FIRST_OPERATIONS) {
        model.next(store);
      }
    }
    Random random = Budget.random();
    int inRebalance = 0;
    int withLeftovers = 0;
    int old = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      Said said = runUntilKilled(path, model.operationCount(), random, kill == 0);
      inRebalance += said.wasRebalancing() ? 1 : 0;
      while (model.operationCount() < said.acknowledged()) {
        model.next(null);
      }
      String context = "seed " + SEED + ", kill " + kill;
      List<Finding> findings = new ArrayList<>();
      DatasetCheck.of(path.toString()).run(findings::add);
      assertThat(findings).as(context).noneMatch(finding -> finding.kind().isDamage());
      Set<String> orphans = orphans(findings);
      String stem = StoreMetaFile.read(new LocalMutableFiles(path))
          .shard()
          .fields()
          .get(0)
          .stem();
      String next = FileStems.rewritten(1, FileStems.generation(stem) + 1);
      withLeftovers += orphans.isEmpty() ? 0 : 1;
      old += orphans.contains(next + ".offset") ? 1 : 0;
      try (RecordStore store = RecordStore.open(path, OPTIONS)) {
        String difference = model.differenceFrom(store);
        // A group may be safe of which the process could not say so any more.
        for (int extra = 0; difference != null && extra < GROUP_OPERATIONS; extra++) {
          model.next(null);
          difference = store.length() == model.length() ? model.differenceFrom(store) : difference;
        }
        assertThat(difference).as(context).isNull();
      }
      findings.clear();
      DatasetCheck.of(path.toString()).run(findings::add);
      assertThat(findings).as(context).isEmpty();
    }
    System.out.printf(
        "%d kills, seed %d: %d of them while rebalancing, %d with something left over, %d of these of the old store; "
            + "%d operations, 0 lost%n",
        KILLS, SEED, inRebalance, withLeftovers, old, model.operationCount());
    assertThat(withLeftovers).isPositive();
  }

  private static Set<String> orphans(List<Finding> findings) {
    return findings.stream()
        .filter(finding -> finding.kind() == Finding.Kind.ORPHAN)
        .map(finding -> Path.of(finding.file()).toFile().getName())
        .collect(Collectors.toSet());
  }

  private static Said runUntilKilled(Path path, long start, Random random, boolean isWaiting)
      throws IOException, InterruptedException {
    Process process = JavaProcess.of(Changer.class)
        .small()
        .start(path.toString(), Long.toString(start), Boolean.toString(isWaiting));
    // In the middle, or when all is copied and the new store takes the place of the old one.
    boolean isAtEnd = !isWaiting && random.nextInt(3) > 0;
    int lastLine = isWaiting ? LINES_OF_A_WAIT : random.nextInt(isAtEnd ? 3 : MOST_LINES);
    // Publishing takes a moment on an idle machine and long on a busy one.
    long delayNanos = (long) (MIN_DELAY_NANOS * Math.pow(4000, random.nextDouble()));
    Said said = new Said(start, false);
    try (BufferedReader lines = new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      int count = 0;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        boolean isRebalancing = line.equals("copied") || line.equals("all copied");
        said = new Said(isRebalancing ? said.acknowledged() : Long.parseLong(line), isRebalancing);
        count += !isAtEnd || line.equals("all copied") ? 1 : 0;
        if (count > lastLine) {
          JavaProcess.killAfter(process, delayNanos);
          count = Integer.MIN_VALUE;
        }
      }
    }
    JavaProcess.requireKilled(process);
    return said;
  }

  /** Does a few operations, says how many there were in all, and rebalances, for ever. */
  static final class Changer {
    private static int lines;

    private Changer() {}

    private static void waitForTheKill() {
      while (true) {
        LockSupport.park();
      }
    }

    public static void main(String[] arguments) {
      Path path = Path.of(arguments[0]);
      boolean isWaiting = Boolean.parseBoolean(arguments[2]);
      StoreModel model = new StoreModel(SEED, LENGTH);
      while (model.operationCount() < Long.parseLong(arguments[1])) {
        model.next(null);
      }
      System.out.println(model.operationCount());
      while (model.operationCount() < Long.MAX_VALUE) {
        StoreRebalance rebalance = StoreRebalance.of(path, ALWAYS);
        long total = rebalance.plan().valueBytes();
        rebalance
            .onBytes(bytes -> {
              System.out.println(bytes < total ? "copied" : "all copied");
              if (isWaiting && ++lines == LINES_OF_A_WAIT) {
                waitForTheKill();
              }
            })
            .run();
        try (RecordStore store = RecordStore.open(path, OPTIONS)) {
          for (int i = 0; i < GROUP_OPERATIONS; i++) {
            model.next(store);
          }
          store.commit();
          System.out.println(model.operationCount());
        }
      }
    }
  }
}
