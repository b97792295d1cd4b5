package io.zrecord.internal.store.repair;

import io.zrecord.MovedRecord;
import io.zrecord.errors.StorageException;
import io.zrecord.findings.CheckListener;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.dataset.RepairAction;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.Journal;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.StoreLeftovers;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.WriterBefore;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.internal.store.verify.StoreCheck;
import io.zrecord.internal.store.verify.StoreState;
import io.zrecord.internal.store.write.StoreLimits;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.internal.store.write.StoreWriter;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.repair.DamagedValues;
import io.zrecord.repair.RepairPlan;
import io.zrecord.repair.RepairReport;
import io.zrecord.schema.RecordSchema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Repairs a store whose lock the caller holds. First the files, so that the store can be opened,
 * then the values.
 */
public final class StoreRepair {
  private static final long CHECKPOINT_BYTES = 64L << 20;

  private final MutableFiles files;
  private final DamagedValues treatment;
  private final Consumer<MovedRecord> onMove;

  /** Set when the plan is approved. */
  private @Nullable WriterToken writer;

  /** What was known of the writer before when the plan was approved. */
  private WriterBefore before = WriterBefore.LEFT_INSIDE;

  public StoreRepair(MutableFiles files, DamagedValues treatment, Consumer<MovedRecord> onMove) {
    this.files = files;
    this.treatment = treatment;
    this.onMove = onMove;
  }

  public RepairReport run(CheckListener listener, RepairPlan.Approval approval) {
    DamagedEntries bad = new DamagedEntries(listener);
    Optional<StoreState> state = new StoreCheck(new CheckRun(bad), files).check();
    if (state.isEmpty()) {
      RepairPlan plan = new RepairPlan(
          List.of(),
          List.of(
              files.pathOf(ShardMeta.FILE_NAME)
                  + " is damaged or missing, and nothing else says what the fields are: restore it from a copy"));
      return new RepairReport(plan, false);
    }
    StoreMetaFile.requireWritable(files);
    List<RepairAction> actions = actions(state.get(), bad);
    List<String> remaining = new ArrayList<>();
    if (bad.count() > 0 && treatment == DamagedValues.KEEP) {
      remaining.add(
          bad.count() + " damaged values stay: mark them absent, or delete their records");
    }
    RepairPlan plan = new RepairPlan(actions.stream().map(RepairAction::text).toList(), remaining);
    if (actions.isEmpty() || !approval.approves(plan)) {
      return new RepairReport(plan, false);
    }
    WriterToken writer = WriterToken.takeRepaired(files);
    this.writer = writer;
    StoreMetaFile.requireStillStore(files, writer);
    requireUnchanged(state.get());
    UUID storeId = state.get().meta().shard().id();
    before = LiveState.writerBefore(files, storeId, writer);
    // Readers map this file. The file tells the durable state until the store is open: only this
    // repair may accept a loss. Whoever comes next knows that the tables may be changed here.
    LiveState live = LiveState.beginRepair(files, storeId, writer, before);
    try {
      if (before.mayWrite() && files.exists(Journal.FILE_NAME)) {
        Journal.detach(files, writer);
      }
      actions.forEach(action -> action.step().run());
    } catch (RuntimeException | Error e) {
      if (before != WriterBefore.LEFT_INSIDE) {
        live.endFailed(writer);
      }
      throw e;
    }
    return new RepairReport(plan, true);
  }

  /** Requires that no writer that lost its lock has committed since the check. */
  private void requireUnchanged(StoreState checked) {
    StoreState now = StoreState.read(files);
    if (now.meta().sequence() != checked.meta().sequence()
        || now.journal().sequence() != checked.journal().sequence()) {
      throw new StorageException(
          files.location(),
          "Cannot repair " + files.location()
              + ": it was changed while it was checked. The process that changed it has lost its lock, and cannot change it any more; repair again");
    }
  }

  private List<RepairAction> actions(StoreState state, DamagedEntries bad) {
    Runnable check = () -> Objects.requireNonNull(writer).require();
    List<RepairAction> actions =
        new ArrayList<>(new StoreFilesRepair(files, state, check).actions());
    actions.addAll(new JournalRepair(files, state, check).actions());
    if (bad.count() > 0 && treatment == DamagedValues.MARK_ABSENT) {
      actions.add(new RepairAction(
          "make " + bad.count() + " damaged values absent", () -> change(state, markAbsent(bad))));
    } else if (bad.count() > 0 && treatment == DamagedValues.DELETE_RECORDS) {
      long[] records = bad.recordsDescending();
      actions.add(new RepairAction(
          "delete " + records.length
              + " records with damaged values; the last records take their places",
          () -> change(state, core -> delete(core, records))));
    } else if (bad.has(Kind.LIVE)
        || bad.has(Kind.COUNT)
        || !actions.isEmpty()
        || (bad.has(Kind.ORPHAN) && hasDeletableLeftovers(state))) {
      actions.add(new RepairAction(
          "open the store once, which makes the file 'live' anew and deletes what no commit names, and count the values anew",
          () -> change(state, core -> {})));
    }
    return actions;
  }

  /**
   * Tells whether some leftovers can be deleted. Files are whole here, or the plan would have other
   * actions. Leftovers that entries point to stay and are not offered.
   */
  private boolean hasDeletableLeftovers(StoreState state) {
    List<FieldMeta> fields = state.meta().shard().fields();
    List<String> found = StoreLeftovers.of(files, fields, state.chunks());
    return !StoreLeftovers.deletable(files, fields, found, state.meta().shard().length())
        .isEmpty();
  }

  /** A change of the open store. */
  private interface Change {
    void to(StoreWriter core);
  }

  private void change(StoreState state, Change change) {
    ShardMeta shard = state.meta().shard();
    StoreLimits limits = new StoreLimits(
        true,
        state.meta().chunkRecords(),
        shard.chunkBytes(),
        1,
        CHECKPOINT_BYTES,
        Duration.ofMinutes(1));
    StoreWriter core =
        StoreRecovery.openRepaired(files, limits, Objects.requireNonNull(writer), before);
    try {
      try (core) {
        change.to(core);
        core.recount();
        // Closing would leave the old counts if there is no space for a checkpoint.
        core.checkpoint();
      }
    } finally {
      // Without space for what is not committed, the store would stay open.
      core.abandon();
    }
  }

  private static Change markAbsent(DamagedEntries bad) {
    return core -> {
      RecordSchema schema = new RecordSchema(core.fields());
      int fieldCount = schema.fields().size();
      byte[] @Nullable [] absent = new byte[fieldCount][];
      bad.forEach((field, index) -> {
        boolean[] isSet = new boolean[fieldCount];
        isSet[schema.ordinal(field)] = true;
        core.update(index, absent, isSet);
      });
    };
  }

  /**
   * Deletes records. The deletion that fills a group commits the group, so each move is reported
   * before.
   */
  private void delete(StoreWriter core, long[] descending) {
    for (long index : descending) {
      onMove.accept(new MovedRecord(core.pendingLength() - 1, index));
      core.delete(index);
    }
  }
}
