package io.zrecord;

/** What an acknowledged change of a store survives. */
public enum StoreDurability {
  /** The death of the process. After power loss the store may be damaged. */
  NONE,
  /** Power loss, once {@link RecordStore#commit} has returned. */
  COMMIT,
  /**
   * Power loss, once the operation itself has returned. Operations of several threads share a
   * force.
   */
  EVERY_RECORD
}
