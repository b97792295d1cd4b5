package io.zrecord.verify;

import java.util.List;

/**
 * What a repair would do.
 *
 * @param actions what it does, in this order; empty: there is nothing that it can do
 * @param remaining damage that it does not repair, with what can be done about it
 */
public record RepairPlan(List<String> actions, List<String> remaining) {
  public RepairPlan {
    actions = List.copyOf(actions);
    remaining = List.copyOf(remaining);
  }
}
