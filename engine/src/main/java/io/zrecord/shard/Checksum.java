package io.zrecord.shard;

/** The checksums that a writer stores. */
public enum Checksum {
  /** A CRC32C of every value, entry and block of a run. */
  CRC32C,
  /** No checksums: damage of values stays unnoticed. */
  NONE
}
