package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.StoreLeftovers;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.internal.store.rewrite.StoreRewrite;
import io.zrecord.testing.Budget;
import io.zrecord.testing.Cases;
import io.zrecord.testing.PowerLossFiles;
import io.zrecord.testing.PowerLossFiles.PowerLossException;
import io.zrecord.testing.UnforcedFiles;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A rewrite of a store, in which the power goes at any step, or any call fails once: the store has
 * all its records, goes on, can be rewritten again, and nothing is left over once it was opened.
 * Without forcing the same shows losses, or this would prove nothing.
 */
class StoreRewriteCrashTest {
  private static final int STATES_OF_THE_CONTROL = 10;
  private static final long SEED = Budget.seed();
  private static final int OPERATIONS = 300;
  private static final int LENGTH = 60;
  private static final StoreOptions OPTIONS =
      StoreOptions.defaults().withWriters(2).withChunkBytes(1 << 15).withCheckpointBytes(1 << 14);
  private static final StoreRewrite.Layout LAYOUT = new StoreRewrite.Layout(1 << 14, 1 << 13);

  @Test
  void allRecordsAreThereWhereverThePowerGoes() {
    int states = Math.max(2, Budget.of(10));
    assertThat(losses(files -> files, Cases::between, states, Long.MAX_VALUE)).isZero();
  }

  @Test
  void withoutForcingSomethingIsLost() {
    assertThat(
            losses(UnforcedFiles::new, StoreRewriteCrashTest::shuffled, STATES_OF_THE_CONTROL, 1))
        .isPositive();
  }

  private static long[] shuffled(long first, long end) {
    List<Long> steps = LongStream.range(first, end).boxed().collect(Collectors.toList());
    Collections.shuffle(steps, new Random(SEED));
    return steps.stream().mapToLong(Long::longValue).toArray();
  }

  /** Chooses the steps at which the power goes. */
  private interface Steps {
    long[] between(long first, long end);
  }

  /**
   * Counts the states in which something is wrong. Stops at {@code mostLosses} of them, once both
   * the old and the new store were left at least once.
   */
  private static long losses(
      UnaryOperator<MutableFiles> rewriting, Steps steps, int states, long mostLosses) {
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    write(whole);
    long first = whole.steps();
    rewrite(rewriting.apply(whole));
    assertThat(StoreLeftovers.of(whole, StoreMetaFile.read(whole))).isEmpty();
    long losses = 0;
    long old = 0;
    long tried = 0;
    String problem = null;
    long[] chosen = steps.between(first, whole.steps() + 1);
    for (long step : chosen) {
      if (losses >= mostLosses && old > 0 && old < tried) {
        break;
      }
      PowerLossFiles files = new PowerLossFiles(step);
      write(files);
      long sequence = StoreMetaFile.read(files).sequence();
      try {
        rewrite(rewriting.apply(files));
      } catch (PowerLossException e) {
        // As it is meant.
      }
      for (int state = 0; state < states; state++) {
        tried++;
        PowerLossFiles left = files.afterPowerLoss(new Random(SEED + step * states + state));
        old += StoreMetaFile.read(left).sequence() == sequence ? 1 : 0;
        String found = problem(left);
        if (found != null) {
          losses++;
          problem = problem == null ? "step " + step + ", state " + state + ": " + found : problem;
        }
      }
    }
    System.out.printf(
        "Seed %d: %d of %d steps, %d states, %d of the old store, %d with a loss%s%n",
        SEED,
        chosen.length,
        whole.steps() + 1 - first,
        tried,
        old,
        losses,
        problem == null ? "" : "; " + problem);
    assertThat(old).isBetween(1L, tried - 1);
    return losses;
  }

  @Test
  void aFullDiskAtAnyCallLeavesTheOldOrTheNewStore() {
    failAtEveryCall(() -> new DiskFullException("disk", "no space is left"));
  }

  @Test
  void anErrorAtAnyCallLeavesTheOldOrTheNewStore() {
    failAtEveryCall(() -> new StorageException("disk", "input/output error"));
  }

  private static void failAtEveryCall(java.util.function.Supplier<RuntimeException> fault) {
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    write(whole);
    long first = whole.steps();
    rewrite(whole);
    long published = 0;
    // The last call makes durable that the writer is gone.
    long[] chosen = Cases.between(first, whole.steps() - 1);
    for (long step : chosen) {
      PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
      write(files);
      long sequence = StoreMetaFile.read(files).sequence();
      List<String> names = names(files);
      files.failingAt(step, fault);
      boolean isFailed = false;
      try {
        rewrite(files);
      } catch (ZRecordException e) {
        isFailed = true;
      }
      assertThat(isFailed).as("step %d", step).isTrue();
      boolean isOld = StoreMetaFile.read(files).sequence() == sequence;
      published += isOld ? 0 : 1;
      if (isOld) {
        assertThat(names(files)).as("step %d", step).isEqualTo(names);
      }
      // It may have been the one of a name that is visible and not durable.
      PowerLossFiles left = files.afterPowerLoss(new Random(SEED + step));
      assertThat(problem(left)).as("step %d, without power", step).isNull();
      assertThat(problem(files)).as("step %d", step).isNull();
    }
    System.out.printf(
        "%d of %d calls failed, %d of them after the new store was there%n",
        chosen.length, whole.steps() - first, published);
    assertThat(published).isBetween(1L, chosen.length - 1L);
  }

  private static List<String> names(PowerLossFiles files) {
    return java.util.stream.Stream.concat(
            files.list("").stream(), files.list("chunk").stream().map(name -> "chunk/" + name))
        .filter(name -> !name.startsWith("writer-"))
        .sorted()
        .toList();
  }

  private static StoreModel model() {
    StoreModel model = new StoreModel(SEED, LENGTH);
    while (model.operationCount() < OPERATIONS) {
      model.next(null);
    }
    return model;
  }

  private static void write(PowerLossFiles files) {
    StoreModel model = new StoreModel(SEED, LENGTH);
    try (RecordStore store = RecordStore.create(files, StoreModel.SCHEMA, OPTIONS, () -> {})) {
      while (model.operationCount() < OPERATIONS) {
        model.next(store);
      }
    }
  }

  private static void rewrite(MutableFiles files) {
    WriterToken writer = WriterToken.take(files);
    new StoreRewrite(files, writer, StoreModel.SCHEMA.fields(), LAYOUT, bytes -> {}).run();
    writer.release();
  }

  private static @Nullable String problem(PowerLossFiles files) {
    StoreModel model = model();
    try {
      try (RecordStore store = RecordStore.open(files, OPTIONS, () -> {})) {
        String difference = model.differenceFrom(store);
        if (difference != null) {
          return difference;
        }
        List<String> leftovers = StoreLeftovers.of(files, StoreMetaFile.read(files)).stream()
            .sorted()
            .toList();
        if (!leftovers.isEmpty()) {
          return "left over: " + leftovers;
        }
        for (int i = 0; i < 20; i++) {
          model.next(store);
        }
      }
      rewrite(files);
      try (RecordStore store = RecordStore.open(files, OPTIONS, () -> {})) {
        return model.differenceFrom(store);
      }
    } catch (ZRecordException e) {
      return e.toString();
    }
  }
}
