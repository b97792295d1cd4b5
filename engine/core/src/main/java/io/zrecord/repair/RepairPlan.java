package io.zrecord.repair;

import java.util.List;

/**
 * The plan of a repair.
 *
 * @param actions what the repair does, in this order; empty if nothing can be done
 * @param remaining damage that stays, with what can be done about it
 */
public record RepairPlan(List<String> actions, List<String> remaining) {
  /** Decides whether a plan is carried out. */
  @FunctionalInterface
  public interface Approval {
    /** Returns whether the repair may make the changes of the plan. */
    boolean approves(RepairPlan plan);
  }

  public RepairPlan {
    actions = List.copyOf(actions);
    remaining = List.copyOf(remaining);
  }
}
