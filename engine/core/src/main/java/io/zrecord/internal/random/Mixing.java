package io.zrecord.internal.random;

/**
 * Mixes words of 64 bits, and makes keys with them (SAMPLERS.md section 2). All arithmetic is
 * modulo 2⁶⁴.
 *
 * <p>Source: SplitMix64 (Steele, Lea, Flood 2014), with Stafford's finalizer 13.
 */
public final class Mixing {
  public static final long GAMMA = 0x9E3779B97F4A7C15L;
  static final long FIRST = 0xBF58476D1CE4E5B9L;
  static final long SECOND = 0x94D049BB133111EBL;

  /** First of the uses of a key, which make two uses of one seed unrelated. */
  public static final long RANDOM = 1;

  public static final long SHUFFLE = 2;
  public static final long GLOBAL = 3;
  public static final long BLOCKS = 4;
  public static final long INSIDE_BLOCKS = 5;
  public static final long WEIGHTED = 6;
  public static final long COINS = 7;
  public static final long ROUNDS = 8;
  public static final long CLASSES = 9;

  private Mixing() {}

  /**
   * Maps words one to one; every bit of the input changes each bit of the output with probability
   * about ½.
   */
  public static long mix(long value) {
    long z = (value ^ (value >>> 30)) * FIRST;
    z = (z ^ (z >>> 27)) * SECOND;
    return z ^ (z >>> 31);
  }

  /**
   * Returns the key with one more word in it; a bijection of either argument, and not symmetric.
   */
  public static long absorb(long key, long word) {
    return mix(key * GAMMA + mix(word + GAMMA));
  }

  /**
   * Returns the key of a use in an epoch: unrelated for (seed, epoch + 1) and (seed + 1, epoch).
   */
  public static long key(long use, long seed, long epoch) {
    return absorb(absorb(use, seed), epoch);
  }

  /** Returns word {@code i} of the stream that a key begins. */
  public static long expand(long key, int i) {
    return mix(key + (i + 1) * GAMMA);
  }
}
