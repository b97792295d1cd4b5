package io.zrecord.shard;

/** The events that an acknowledged write survives. */
public enum Durability {
  /** Survives the end of the process, not power loss: nothing is forced to disk. */
  NONE,
  /**
   * Survives power loss: a commit returns only after everything that it names is forced to disk.
   */
  COMMIT
}
