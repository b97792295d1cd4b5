package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.testing.Budget;
import io.zrecord.testing.Cases;
import io.zrecord.testing.ForwardingFile;
import io.zrecord.testing.ForwardingFiles;
import io.zrecord.testing.PowerLossFiles;
import io.zrecord.testing.PowerLossFiles.PowerLossException;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The power goes at any step of a script of operations, and what was not forced is there afterwards
 * or not, by chance: what was acknowledged is there, and the whole is what some number of
 * operations made. Without forcing the same script shows losses, or this would prove nothing.
 */
class StorePowerLossTest {
  private static final int STATES = Math.max(2, Budget.of(10));
  private static final int STATES_OF_THE_CONTROL = 10;
  private static final long SEED = Budget.seed();
  private static final int OPERATIONS = 200;
  private static final int LENGTH = 40;

  /** So few operations that their values are in one chunk. */
  private static final int CARRIED = 60;

  /** A recovery with a journal takes about this many steps. */
  private static final int RECOVERY_STEPS = 30;

  private static StoreOptions options(StoreDurability durability) {
    return StoreOptions.defaults()
        .withDurability(durability)
        .withWriters(1)
        .withChunkBytes(1 << 16)
        .withCheckpointBytes(1 << 14);
  }

  @Test
  void whatWasAcknowledgedSurvivesWhereverThePowerGoes() {
    assertThat(losses(StoreDurability.COMMIT, OPERATIONS, files -> files)).isZero();
  }

  @Test
  void withoutForcingSomethingIsLost() {
    assertThat(lossesOfTheControl(StoreDurability.NONE, OPERATIONS, files -> files))
        .isPositive();
  }

  @Test
  void withoutForcingChunksBeforeTheJournalIsEmptiedSomethingIsLost() {
    // The first force belongs to the first commit; the journal carries the values of the others.
    UnaryOperator<MutableFiles> forgetful = files -> new ForwardingFiles(files) {
      @Override
      public MutableFile create(String name) {
        MutableFile created = files.create(name);
        return name.startsWith("chunk/") ? new ForcedOnce(created) : created;
      }
    };
    assertThat(lossesOfTheControl(StoreDurability.COMMIT, CARRIED, forgetful)).isPositive();
    assertThat(losses(StoreDurability.COMMIT, CARRIED, files -> files)).isZero();
  }

  @Test
  void whatWasAcknowledgedSurvivesLossesDuringRecoveries() {
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    run(whole, StoreDurability.COMMIT, CARRIED);
    long interrupted = 0;
    for (long step : Cases.before(whole.steps())) {
      PowerLossFiles files = new PowerLossFiles(step);
      long acknowledged = run(files, StoreDurability.COMMIT, CARRIED);
      Random random = new Random(SEED + step);
      for (long lastStep = 0; lastStep < RECOVERY_STEPS; lastStep++) {
        files = files.afterPowerLoss(random, lastStep);
        try {
          RecordStore.open(files, options(StoreDurability.COMMIT), () -> {});
        } catch (PowerLossException e) {
          interrupted++;
        } catch (ZRecordException e) {
          assertThat(acknowledged).as("step %d: %s", step, e).isNegative();
        }
      }
      assertThat(problem(files.afterPowerLoss(random), StoreDurability.COMMIT, acknowledged))
          .as("step %d", step)
          .isNull();
    }
    assertThat(interrupted).isPositive();
  }

  /** A copy of the store by 'cp' would be refused if the writer's token came back. */
  @Test
  void noWriterIsThereAgainAfterAStoreWasClosed() {
    PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
    run(files, StoreDurability.COMMIT, CARRIED);
    Random random = new Random(SEED);
    for (int state = 0; state < 20; state++) {
      assertThat(files.afterPowerLoss(random).list(""))
          .noneMatch(name -> name.startsWith("writer-"));
    }
  }

  private static final class ForcedOnce extends ForwardingFile {
    private boolean isForced;

    ForcedOnce(MutableFile file) {
      super(file);
    }

    @Override
    public void force() {
      if (!isForced) {
        super.force();
      }
      isForced = true;
    }
  }

  /** Returns in how many states something is lost or wrong, of a share of the steps. */
  private static long losses(
      StoreDurability durability, int operations, UnaryOperator<MutableFiles> writing) {
    long[] steps = Cases.before(steps(durability, operations, writing));
    return losses(durability, operations, writing, steps, STATES, Long.MAX_VALUE);
  }

  /** Tries states of all steps, in an order of chance, until something is lost or wrong. */
  private static long lossesOfTheControl(
      StoreDurability durability, int operations, UnaryOperator<MutableFiles> writing) {
    List<Long> steps = LongStream.range(0, steps(durability, operations, writing))
        .boxed()
        .collect(Collectors.toList());
    Collections.shuffle(steps, new Random(SEED));
    long[] shuffled = steps.stream().mapToLong(Long::longValue).toArray();
    return losses(durability, operations, writing, shuffled, STATES_OF_THE_CONTROL, 1);
  }

  private static long steps(
      StoreDurability durability, int operations, UnaryOperator<MutableFiles> writing) {
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    run(writing.apply(whole), durability, operations);
    return whole.steps();
  }

  private static long losses(
      StoreDurability durability,
      int operations,
      UnaryOperator<MutableFiles> writing,
      long[] steps,
      int statesOfAStep,
      long mostLosses) {
    long losses = 0;
    long states = 0;
    String first = null;
    for (long step : steps) {
      if (losses >= mostLosses) {
        break;
      }
      PowerLossFiles files = new PowerLossFiles(step);
      long acknowledged = run(writing.apply(files), durability, operations);
      for (int state = 0; state < statesOfAStep && losses < mostLosses; state++) {
        states++;
        Random random = new Random(SEED + step * statesOfAStep + state);
        String problem = problem(files.afterPowerLoss(random), durability, acknowledged);
        if (problem != null) {
          losses++;
          first = first == null ? "step " + step + ", state " + state + ": " + problem : first;
        }
      }
    }
    System.out.printf(
        "Durability %s, seed %d: %d steps, %d states, %d with a loss%s%n",
        durability, SEED, steps.length, states, losses, first == null ? "" : "; " + first);
    return losses;
  }

  /**
   * Runs the script until the power goes; returns how many operations were acknowledged, or -1 if
   * not even the store.
   */
  private static long run(MutableFiles files, StoreDurability durability, int operations) {
    StoreModel model = new StoreModel(SEED, LENGTH);
    Random random = new Random(SEED);
    long acknowledged = -1;
    try {
      RecordStore store =
          RecordStore.create(files, StoreModel.SCHEMA, options(durability), () -> {});
      acknowledged = 0;
      while (model.operationCount() < operations) {
        for (int i = 1 + random.nextInt(6); i > 0 && model.operationCount() < operations; i--) {
          model.next(store);
        }
        store.commit();
        acknowledged = model.operationCount();
      }
      store.close();
    } catch (PowerLossException e) {
      return acknowledged;
    }
    return acknowledged;
  }

  private static @Nullable String problem(
      PowerLossFiles files, StoreDurability durability, long acknowledged) {
    try (RecordStore store = RecordStore.open(files, options(durability), () -> {})) {
      StoreModel model = new StoreModel(SEED, LENGTH);
      while (model.operationCount() < Math.max(0, acknowledged)) {
        model.next(null);
      }
      String difference = model.differenceFrom(store);
      for (int extra = 0; difference != null && extra < 6; extra++) {
        model.next(null);
        if (store.length() == model.length() && model.differenceFrom(store) == null) {
          return null;
        }
      }
      return difference;
    } catch (ZRecordException e) {
      return acknowledged < 0 ? null : e.toString();
    }
  }
}
