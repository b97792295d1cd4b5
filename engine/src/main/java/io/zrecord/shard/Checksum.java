package io.zrecord.shard;

/** Whether a writer stores checksums. */
public enum Checksum {
  /** CRC32C of every value, entry and block of a run. */
  CRC32C,
  /** None: damage of values stays unnoticed. */
  NONE
}
