package io.zrecord.internal.format;

/**
 * A Bloom filter over a set of slots, with all bits of a slot in one word. Takes about 12 bits for
 * each slot of the set, where {@link RankedBitmap} takes one for each slot of the shard: random
 * look-ups of few slots in many find the filter in the nearest cache.
 *
 * <p>Immutable.
 */
public final class SlotFilter {
  /** The filter of a set without slots. */
  public static final SlotFilter NONE = new SlotFilter(new long[] {0, 0});

  /** The filter that lets every slot pass. */
  private static final SlotFilter ALL = new SlotFilter(new long[] {-1, -1});

  /** Slots for which a word is taken at most. */
  private static final int SLOTS_OF_WORD = 5;

  /** Above this density, one in so many slots, the bitmap is no larger than the filter. */
  private static final int LEAST_DISTANCE = 16;

  private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

  private final long[] words;
  private final int shift;

  private SlotFilter(long[] words) {
    this.words = words;
    this.shift = Long.SIZE - Integer.numberOfTrailingZeros(words.length);
  }

  /** Makes the filter of a set, which has at least one slot. */
  public static SlotFilter of(RankedBitmap set) {
    long span = set.slotOf(set.count() - 1) + 1;
    if (set.count() > span / LEAST_DISTANCE) {
      return ALL;
    }
    int least = (int) Math.max(2, set.count() / SLOTS_OF_WORD);
    SlotFilter filter = new SlotFilter(new long[Integer.highestOneBit(2 * least - 1)]);
    set.visit(0, span, (slot, rank) -> filter.add(slot));
    return filter;
  }

  private void add(long slot) {
    long hash = slot * GOLDEN_RATIO;
    words[(int) (hash >>> shift)] |=
        1L << (hash >>> 16) | 1L << (hash >>> 22) | 1L << (hash >>> 28);
  }

  /** Tells whether a slot may be in the set: false if the slot certainly is not. */
  public boolean mayContain(long slot) {
    long hash = slot * GOLDEN_RATIO;
    long word = words[(int) (hash >>> shift)];
    return ((word >>> (hash >>> 16)) & (word >>> (hash >>> 22)) & (word >>> (hash >>> 28)) & 1)
        != 0;
  }
}
