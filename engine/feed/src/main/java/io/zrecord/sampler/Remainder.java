package io.zrecord.sampler;

/**
 * Says what ranks do with the last positions of an epoch whose length is no multiple of the number
 * of ranks.
 */
public enum Remainder {
  /** Leaves them out: every rank has {@code ⌊length / worldSize⌋} positions. */
  DROP,
  /**
   * Begins the epoch again: every rank has {@code ⌈length / worldSize⌉} positions, of which fewer
   * than {@code worldSize} in all are repeated.
   */
  PAD,
  /** Gives them to the first ranks: each position comes once, and ranks differ by at most one. */
  UNEVEN
}
