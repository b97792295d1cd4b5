package io.zrecord.repair;

/**
 * The result of a repair.
 *
 * @param plan the plan
 * @param isDone whether the plan was approved and carried out
 */
public record RepairReport(RepairPlan plan, boolean isDone) {}
