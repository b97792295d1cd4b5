package io.zrecord.internal.verify;

/** The purpose of a shard. */
public enum ShardRole {
  /** Holds records of the table. */
  RECORDS,
  /** Is the index map of its version. */
  INDEX_MAP
}
