package io.zrecord.sampler;

/**
 * What ranks do with the last positions of an epoch when its length is no multiple of their number.
 */
public enum Remainder {
  /** Leave them out: every rank has {@code ⌊length / worldSize⌋} positions. */
  DROP,
  /**
   * Begin the epoch again: every rank has {@code ⌈length / worldSize⌉} positions, fewer than
   * {@code worldSize} of them repeated.
   */
  PAD,
  /** Give them to the first ranks: each position once, and ranks differ by at most one. */
  UNEVEN
}
