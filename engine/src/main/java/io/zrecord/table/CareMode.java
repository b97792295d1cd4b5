package io.zrecord.table;

/** Whether a table is cared for, or only what that would do is found out. */
public enum CareMode {
  /** Nothing is changed. */
  DRY_RUN,
  /** What is no longer wanted is deleted. */
  DELETE
}
