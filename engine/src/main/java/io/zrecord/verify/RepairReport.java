package io.zrecord.verify;

/**
 * What a repair did.
 *
 * @param plan what was planned
 * @param isDone whether it was approved and done
 */
public record RepairReport(RepairPlan plan, boolean isDone) {}
