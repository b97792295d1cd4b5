package io.zrecord.shard;

/** What an acknowledged write survives. */
public enum Durability {
  /** The end of the process, but not power loss: nothing is forced to disk. */
  NONE,
  /** Power loss: a commit returns only after all that it names was forced to disk. */
  COMMIT
}
