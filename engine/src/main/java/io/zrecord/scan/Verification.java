package io.zrecord.scan;

/** When checksums are compared. */
public enum Verification {
  /** When a process touches a value, or a block of a run, for the first time; what is sealed cannot change. */
  FIRST,
  /** At every selection. */
  ALWAYS,
  /** Never: damage is handed on. */
  NEVER
}
