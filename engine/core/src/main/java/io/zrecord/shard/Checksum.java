package io.zrecord.shard;

/** The checksums that a writer stores. */
public enum Checksum {
  /** A CRC32C of every value and of every block of a run, bound to its place. */
  CRC32C,
  /** No checksums: damage of values stays unnoticed. */
  NONE
}
