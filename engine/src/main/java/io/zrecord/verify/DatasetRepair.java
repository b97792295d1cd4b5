package io.zrecord.verify;

import io.zrecord.RecordStore.Moved;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.storage.LocalStorage;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * Repairs what can be repaired of a dataset on a local file system. It first checks the dataset, then has a plan approved, and only then
 * changes something. A store stays locked all the while. Sealed shards are never changed.
 *
 * <pre>{@code
 * RepairReport report =
 *     DatasetRepair.of(path).damagedValues(DamagedValues.MARK_ABSENT).run(finding -> {}, plan -> ask(plan));
 * }</pre>
 *
 * <p>Immutable.
 */
public final class DatasetRepair {
  private final Path path;
  private final DamagedValues damagedValues;
  private final boolean restoresPrevious;
  private final Consumer<Moved> onMove;

  /** Decides whether a plan is carried out. */
  @FunctionalInterface
  public interface Approval {
    boolean approves(RepairPlan plan);
  }

  private DatasetRepair(
      Path path, DamagedValues damagedValues, boolean restoresPrevious, Consumer<Moved> onMove) {
    this.path = path;
    this.damagedValues = damagedValues;
    this.restoresPrevious = restoresPrevious;
    this.onMove = onMove;
  }

  /** A repair of a store's files that keeps damaged values, and that does nothing to a table. */
  public static DatasetRepair of(Path path) {
    return new DatasetRepair(path, DamagedValues.KEEP, false, moved -> {});
  }

  /** The same, with another treatment of damaged values of a store. */
  public DatasetRepair damagedValues(DamagedValues treatment) {
    return new DatasetRepair(path, treatment, restoresPrevious, onMove);
  }

  /** The same; and if the newest manifests of a table are damaged, and no tag names them, they are moved aside. */
  public DatasetRepair restoringPrevious() {
    return new DatasetRepair(path, damagedValues, true, onMove);
  }

  /**
   * The same, which says where the last record of a store goes before it deletes another one, in this order. If the repair fails or is
   * killed, the first of these moves were made: as many as the store has records fewer than before.
   */
  public DatasetRepair onMove(Consumer<Moved> listener) {
    return new DatasetRepair(path, damagedValues, restoresPrevious, listener);
  }

  /**
   * Checks, asks and repairs.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws io.zrecord.errors.StoreLockedException if a writer has the store open
   * @throws io.zrecord.errors.ZRecordException if a file cannot be changed; repairing again goes on
   */
  public RepairReport run(CheckListener listener, Approval approval) {
    return switch (DatasetKind.of(path)) {
      case TABLE ->
        new TableRepair(LocalStorage.at(path), path, restoresPrevious).run(listener, approval);
      case SHARD -> {
        boolean isSound = DatasetCheck.of(path).run(listener).isSound();
        RepairPlan plan = new RepairPlan(
            List.of(),
            isSound
                ? List.of()
                : List.of(
                    path + " is a sealed shard, which is never changed: restore the damaged files"
                        + " from a copy, or write the dataset again without the damaged records"));
        yield new RepairReport(plan, false);
      }
      case STORE -> {
        ProcessLock lock = ProcessLock.acquire(path);
        try {
          yield new StoreRepair(new LocalMutableFiles(path), damagedValues, onMove)
              .run(listener, approval);
        } finally {
          lock.close();
        }
      }
    };
  }
}
