package io.zrecord.feed;

/**
 * Makes a seed for each record of each epoch, by the finalizer of SplitMix64 (Steele, Lea, Flood
 * 2014), applied once for each of three numbers.
 */
final class RecordSeeds {
  private static final long GAMMA = 0x9e3779b97f4a7c15L;

  private RecordSeeds() {}

  static long seed(long groupSeed, long epoch, long globalPosition) {
    return mix(mix(mix(groupSeed + GAMMA) + epoch + GAMMA) + globalPosition + GAMMA);
  }

  private static long mix(long z) {
    long a = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    long b = (a ^ (a >>> 27)) * 0x94d049bb133111ebL;
    return b ^ (b >>> 31);
  }
}
