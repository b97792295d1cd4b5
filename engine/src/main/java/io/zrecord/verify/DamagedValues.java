package io.zrecord.verify;

/** What a repair of a store does with values that cannot be read any more. */
public enum DamagedValues {
  /** Nothing: they stay, and reading them fails. */
  KEEP,
  /** They become absent; the other values of their records stay. */
  MARK_ABSENT,
  /** The records that have one are deleted; as with every deletion, the last records take their places. */
  DELETE_RECORDS
}
