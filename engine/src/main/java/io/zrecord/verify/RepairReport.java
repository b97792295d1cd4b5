package io.zrecord.verify;

import io.zrecord.RecordStore.Moved;
import java.util.List;

/**
 * What a repair did.
 *
 * @param plan what was planned
 * @param isDone whether it was approved and done
 * @param moves where records went because others were deleted, one after the other
 */
public record RepairReport(RepairPlan plan, boolean isDone, List<Moved> moves) {
  public RepairReport {
    moves = List.copyOf(moves);
  }
}
