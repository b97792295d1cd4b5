package io.zrecord.verify;

/**
 * A step of a repair.
 *
 * @param text what it does and what that means
 * @param step does it
 */
record RepairAction(String text, Runnable step) {}
