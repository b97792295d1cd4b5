package io.zrecord.store;

/** Says what an acknowledged change of a store survives. */
public enum StoreDurability {
  /** Survives the death of the process. After power loss the store may be damaged. */
  NONE,
  /** Survives power loss, once {@link RecordStore#commit} has returned. */
  COMMIT,
  /**
   * Survives power loss, once the operation itself has returned. Operations of several threads
   * share one force to the medium.
   */
  EVERY_RECORD
}
