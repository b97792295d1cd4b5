package io.zrecord.repair;

/**
 * A step of a repair.
 *
 * @param text what the step does and what that means
 * @param step runs the step
 */
record RepairAction(String text, Runnable step) {}
