package io.zrecord.sampler;

/**
 * Working memory of one thread, 20 KiB, which stays in the first-level cache; a new array a call makes a batch of
 * 256 half as slow again. Nobody holds it while calling another sampler.
 */
final class Scratch {
  private static final ThreadLocal<Scratch> OWN = ThreadLocal.withInitial(Scratch::new);

  /** For samplers. */
  final long[] values = new long[Lanes.CHUNK];

  /** For permutations only. */
  final long[] packed = new long[Lanes.CHUNK];

  final int[] places = new int[Lanes.CHUNK + 1];

  private Scratch() {}

  static Scratch own() {
    return OWN.get();
  }
}
