package io.zrecord.repair;

/** The treatment by a store's repair of values that cannot be read any more. */
public enum DamagedValues {
  /** Keeps the values; reading them fails. */
  KEEP,
  /** Makes the values absent; other values of their records stay. */
  MARK_ABSENT,
  /**
   * Deletes the records that have a damaged value. As with every deletion, the last records take
   * their places.
   */
  DELETE_RECORDS
}
