package io.zrecord.internal.dataset;

/**
 * A step of a repair.
 *
 * @param text what the step does and what that means
 * @param step runs the step
 */
public record RepairAction(String text, Runnable step) {}
