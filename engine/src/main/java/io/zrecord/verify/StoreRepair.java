package io.zrecord.verify;

import io.zrecord.RecordStore.Moved;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.online.LiveState;
import io.zrecord.internal.online.StoreCore;
import io.zrecord.internal.online.StoreLeftovers;
import io.zrecord.schema.RecordSchema;
import io.zrecord.verify.Finding.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Repairs a store whose lock the caller holds: first its files, so that it can be opened, then its values. */
final class StoreRepair {
  private static final int MAX_LANES = 4;
  private static final long CHECKPOINT_BYTES = 64L << 20;

  private final MutableFiles files;
  private final DamagedValues treatment;
  private final Consumer<Moved> onMove;

  StoreRepair(MutableFiles files, DamagedValues treatment, Consumer<Moved> onMove) {
    this.files = files;
    this.treatment = treatment;
    this.onMove = onMove;
  }

  RepairReport run(CheckListener listener, DatasetRepair.Approval approval) {
    BadValues bad = new BadValues(listener);
    Optional<StoreState> state = new StoreCheck(new CheckRun(bad), files).check();
    if (state.isEmpty()) {
      RepairPlan plan = new RepairPlan(
          List.of(),
          List.of(
              files.pathOf(ShardMeta.FILE_NAME)
                  + " is damaged or missing, and nothing else says what the fields are: restore it from a copy"));
      return new RepairReport(plan, false);
    }
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
    // Readers have it mapped. It goes on to say what was safe until the store is open: only this
    // repair may accept a loss.
    LiveState.withdraw(files);
    actions.forEach(action -> action.step().run());
    return new RepairReport(plan, true);
  }

  private List<RepairAction> actions(StoreState state, BadValues bad) {
    List<RepairAction> actions = new ArrayList<>(new StoreFilesRepair(files, state).actions());
    actions.addAll(new JournalRepair(files, state).actions());
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

  /** Files are whole here, or there would be other actions. Leftovers that entries point to stay, so that they are not offered. */
  private boolean hasDeletableLeftovers(StoreState state) {
    List<FieldMeta> fields = state.meta().shard().fields();
    List<String> found = StoreLeftovers.of(files, fields, state.chunks());
    return !StoreLeftovers.deletable(files, fields, found, state.meta().shard().length())
        .isEmpty();
  }

  /** What is done to the store while it is open. */
  private interface Change {
    void to(StoreCore core);
  }

  private void change(StoreState state, Change change) {
    ShardMeta shard = state.meta().shard();
    // As many as there are chunks being written, so that none is closed or begun for this.
    int lanes =
        Math.max(1, Math.min(MAX_LANES, state.chunks().size() - shard.chunks().size()));
    StoreCore.Limits limits = new StoreCore.Limits(
        true,
        shard.chunkRecords(),
        shard.chunkBytes(),
        lanes,
        CHECKPOINT_BYTES,
        Duration.ofMinutes(1));
    try (StoreCore core = StoreCore.openRepaired(files, limits)) {
      change.to(core);
      core.recount();
    }
  }

  private static Change markAbsent(BadValues bad) {
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

  /** A full group is committed by the deletion that fills it, so each is told before. */
  private void delete(StoreCore core, long[] descending) {
    for (long index : descending) {
      onMove.accept(new Moved(core.pendingLength() - 1, index));
      core.delete(index);
    }
  }
}
