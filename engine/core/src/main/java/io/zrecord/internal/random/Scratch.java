package io.zrecord.internal.random;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;

/**
 * Holds the working memory of one thread: 36 KiB, of which a loop uses 16 or less, so that it stays
 * in the first-level cache. A new array in each call would make a batch of 256 half as slow again.
 * No sampler uses this memory across a call of another sampler.
 */
public final class Scratch {
  private static final ThreadLocal<Scratch> OWN = ThreadLocal.withInitial(Scratch::new);

  /** For samplers. */
  public final long[] values = new long[Lanes.CHUNK];

  /** For permutations of more than 2³² values only. */
  final long[] packed = new long[Lanes.CHUNK];

  /** For draws and permutations only. */
  final int[] high = new int[Lanes.CHUNK];

  final int[] low = new int[Lanes.CHUNK];
  final int[] steps = new int[Lanes.CHUNK];

  final int[] places = new int[Lanes.CHUNK + 1];

  /** Memory of {@link Lanes#widen}: equal bytes, as numbers of 32 bits and of 64 bits. */
  final IntBuffer ints;

  final LongBuffer longs;

  private Scratch() {
    ByteBuffer bytes = Lanes.bytes();
    this.ints = bytes.asIntBuffer();
    this.longs = bytes.asLongBuffer();
  }

  public static Scratch own() {
    return OWN.get();
  }
}
