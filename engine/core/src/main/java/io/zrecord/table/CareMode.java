package io.zrecord.table;

/** The effect of a table's care: a report, or a change of the table. */
public enum CareMode {
  /** Changes nothing. */
  DRY_RUN,
  /** Deletes what is no longer wanted. */
  DELETE
}
