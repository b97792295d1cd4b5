package io.zrecord.repair;

import io.zrecord.DatasetKind;
import io.zrecord.MovedRecord;
import io.zrecord.Storages;
import io.zrecord.findings.CheckListener;
import io.zrecord.internal.dataset.Providers;
import io.zrecord.storage.Storage;
import java.util.function.Consumer;

/**
 * Repairs what can be repaired of a dataset on a local file system. A repair first checks the
 * dataset, then has a plan approved, and only then changes something. A store stays locked
 * throughout. Sealed shards are never changed.
 *
 * <pre>{@code
 * RepairReport report =
 *     DatasetRepair.of("/data/train")
 *         .damagedValues(DamagedValues.MARK_ABSENT)
 *         .run(finding -> {}, plan -> ask(plan));
 * }</pre>
 *
 * <p>Immutable.
 */
public final class DatasetRepair {
  private final Storage storage;
  private final DamagedValues damagedValues;
  private final boolean restoresPrevious;
  private final Consumer<MovedRecord> onMove;

  private DatasetRepair(
      Storage storage,
      DamagedValues damagedValues,
      boolean restoresPrevious,
      Consumer<MovedRecord> onMove) {
    this.storage = storage;
    this.damagedValues = damagedValues;
    this.restoresPrevious = restoresPrevious;
    this.onMove = onMove;
  }

  /**
   * Returns a repair that fixes the files of a store, keeps damaged values, and leaves a table as
   * it is.
   *
   * @param location a local path, or a URI of a storage on the class path, such as
   *     {@code s3://bucket/train}; see {@link Storages}
   */
  public static DatasetRepair of(String location) {
    return of(Storages.at(location));
  }

  /** Returns a repair of what is at the root of a storage, as the other method does. */
  public static DatasetRepair of(Storage storage) {
    return new DatasetRepair(storage, DamagedValues.KEEP, false, moved -> {});
  }

  /** Returns a repair with another treatment of a store's damaged values. */
  public DatasetRepair damagedValues(DamagedValues treatment) {
    return new DatasetRepair(storage, treatment, restoresPrevious, onMove);
  }

  /**
   * Returns a repair that also gives versions of a table up: the newest ones if their manifests or
   * lists are damaged, and those before a manifest that is damaged or missing.
   */
  public DatasetRepair restoringPrevious() {
    return new DatasetRepair(storage, damagedValues, true, onMove);
  }

  /**
   * Returns a repair that reports, before it deletes a record of a store, where the last record
   * goes. Moves are reported in the order in which they are made. If the repair fails or is killed,
   * only the first of these moves were made: as many as the store has lost records.
   */
  public DatasetRepair onMove(Consumer<MovedRecord> listener) {
    return new DatasetRepair(storage, damagedValues, restoresPrevious, listener);
  }

  /**
   * Checks the dataset, asks for approval and repairs.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws io.zrecord.errors.StoreLockedException if a writer has the store open
   * @throws io.zrecord.errors.ZRecordException if a file cannot be changed; another repair
   *     continues this one
   */
  public RepairReport run(CheckListener listener, RepairPlan.Approval approval) {
    return switch (DatasetKind.of(storage)) {
      case TABLE -> new TableRepair(storage, restoresPrevious).run(listener, approval);
      case STORE ->
        Providers.ofStores(RepairProvider.class, storage, "repair")
            .repair(storage, damagedValues, onMove, listener, approval);
    };
  }
}
