package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.testing.Budget;
import io.zrecord.testing.Cases;
import io.zrecord.testing.PowerLossFiles;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Any call of a script of operations fails once. A full disk keeps the writer usable; after any
 * other failure it refuses to go on, and opening the store again finds what was acknowledged.
 */
class StoreFaultTest {
  private static final long SEED = Budget.seed();
  private static final int OPERATIONS = 200;
  private static final int LENGTH = 40;
  private static final StoreOptions OPTIONS =
      StoreOptions.defaults().withWriters(1).withChunkBytes(1 << 16).withCheckpointBytes(1 << 14);

  /** What the system reports. */
  enum Fault {
    DISK_FULL,
    IO_ERROR;

    RuntimeException exception() {
      return this == DISK_FULL
          ? new DiskFullException("disk", "no space is left")
          : new StorageException("disk", "input/output error");
    }
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void nothingAcknowledgedIsLostWhereverACallFails(Fault fault) {
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    long first = createdIn(whole);
    run(whole, new StoreModel(SEED, LENGTH), Fault.IO_ERROR);
    long failures = 0;
    long[] steps = Cases.between(first, whole.steps());
    for (long step : steps) {
      PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
      createdIn(files);
      files.failingAt(step, fault::exception);
      StoreModel model = new StoreModel(SEED, LENGTH);
      if (!run(files, model, fault)) {
        failures++;
      }
      try (RecordStore store = RecordStore.open(files, OPTIONS, () -> {})) {
        String difference = model.differenceFrom(store);
        for (int extra = 0; difference != null && extra < 6; extra++) {
          model.next(null);
          difference =
              store.length() == model.length() ? model.differenceFrom(store) : "another length";
        }
        assertThat(difference).as("step %d", step).isNull();
      }
    }
    System.out.printf(
        "%s at %d of %d calls: the writer had to be opened again after %d%n",
        fault, steps.length, whole.steps() - first, failures);
    assertThat(failures).isEqualTo(fault == Fault.DISK_FULL ? 0 : steps.length);
  }

  private static long createdIn(PowerLossFiles files) {
    RecordStore.create(files, StoreModel.SCHEMA, OPTIONS, () -> {}).close();
    return files.steps();
  }

  /**
   * Returns whether the writer was usable to the end; the model ends with what was acknowledged.
   */
  private static boolean run(PowerLossFiles files, StoreModel model, Fault fault) {
    Random random = new Random(SEED);
    StoreModel acknowledged = model;
    StoreModel all = new StoreModel(SEED, LENGTH);
    boolean isUsable = true;
    RecordStore store;
    try {
      store = RecordStore.open(files, OPTIONS, () -> {});
    } catch (ZRecordException e) {
      store = RecordStore.open(files, OPTIONS, () -> {});
      isUsable = fault == Fault.DISK_FULL;
    }
    try {
      while (all.operationCount() < OPERATIONS) {
        for (int i = 1 + random.nextInt(6); i > 0 && all.operationCount() < OPERATIONS; i--) {
          again(store, all::next);
        }
        again(store, RecordStore::commit);
        while (acknowledged.operationCount() < all.operationCount()) {
          acknowledged.next(null);
        }
      }
      again(store, RecordStore::close);
    } catch (DiskFullException e) {
      throw e;
    } catch (ZRecordException e) {
      isUsable = false;
    }
    return isUsable;
  }

  /** What is done with a store. */
  private interface Step {
    void on(RecordStore store);
  }

  /** Does it once more if the disk was full. */
  private static void again(RecordStore store, Step step) {
    try {
      step.on(store);
    } catch (DiskFullException e) {
      step.on(store);
    }
  }
}
