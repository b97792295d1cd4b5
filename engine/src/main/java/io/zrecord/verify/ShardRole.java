package io.zrecord.verify;

/** The purpose of a shard. */
enum ShardRole {
  /** Holds records of the table. */
  RECORDS,
  /** Is the index map of its version. */
  INDEX_MAP
}
