package io.zrecord.read;

/** When checksums are compared. */
public enum Verification {
  /**
   * At the first touch of a value, or of a block of a run, by a process. Sealed data cannot change
   * afterwards.
   */
  FIRST,
  /**
   * At every selection. A block of compressed values is compared when it is decoded: not again
   * while a reader keeps the decoded values for the next selection.
   */
  ALWAYS,
  /**
   * Never: damage of values is passed on to the caller. What tells where values begin and end is
   * checked once.
   */
  NEVER
}
