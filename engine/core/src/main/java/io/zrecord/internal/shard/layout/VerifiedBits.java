package io.zrecord.internal.shard.layout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * One bit for each value or block: whether its checksum was right. Bits are only ever set, and
 * verified bytes never change, so setting a bit twice, or missing one that is being set, costs only
 * a second check. A page is allocated when a bit in it is set, and released again when all its bits
 * are: fully verified data costs a look at a few bytes that are always in the cache. Thread-safe
 * without locks.
 *
 * <p>Of bytes that are read anew, and perhaps into other memory, nothing is remembered: no bit is
 * ever set.
 */
final class VerifiedBits {
  private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
  /** 64 Ki bits, 8 KiB a page. */
  private static final int PAGE_SHIFT = 16;

  private static final int PAGE_BITS = 1 << PAGE_SHIFT;
  private static final int WORDS_MASK = (PAGE_BITS >> 6) - 1;
  /** Marks a page whose bits are all set. */
  private static final long[] FULL = new long[0];

  private final boolean isRemembered;
  private final long count;
  private final AtomicReferenceArray<long[]> pages;
  private final AtomicIntegerArray setCounts;
  private final AtomicInteger fullPages = new AtomicInteger();

  /** Creates bits {@code [0, count)}, all unset, for bytes that stay. */
  VerifiedBits(long count) {
    this(count, true);
  }

  /**
   * Creates bits {@code [0, count)}, all unset.
   *
   * @param isRemembered whether the bytes that are verified are those that are read later
   */
  VerifiedBits(long count, boolean isRemembered) {
    this.isRemembered = isRemembered;
    this.count = count;
    int pageCount = Math.toIntExact((count + PAGE_BITS - 1) >>> PAGE_SHIFT);
    pages = new AtomicReferenceArray<>(pageCount);
    setCounts = new AtomicIntegerArray(pageCount);
  }

  boolean isSet(long bit) {
    long[] page = pages.getAcquire((int) (bit >>> PAGE_SHIFT));
    return page == FULL || (page != null && isSet(page, bit));
  }

  /** Tells whether every bit is set. */
  boolean isAllSet() {
    return fullPages.getOpaque() == pages.length();
  }

  private static boolean isSet(long[] page, long bit) {
    return ((long) WORDS.getOpaque(page, (int) (bit >>> 6) & WORDS_MASK) >>> bit & 1) != 0;
  }

  void set(long bit) {
    if (!isRemembered) {
      return;
    }
    int number = (int) (bit >>> PAGE_SHIFT);
    long[] page = pages.getAcquire(number);
    if (page == null) {
      pages.compareAndSet(number, null, new long[WORDS_MASK + 1]);
      page = pages.getAcquire(number);
    }
    if (page == FULL) {
      return;
    }
    long mask = 1L << bit;
    long before = (long) WORDS.getAndBitwiseOr(page, (int) (bit >>> 6) & WORDS_MASK, mask);
    if ((before & mask) == 0
        && setCounts.incrementAndGet(number)
            == Math.min(PAGE_BITS, count - ((long) number << PAGE_SHIFT))) {
      pages.setRelease(number, FULL);
      fullPages.incrementAndGet();
    }
  }
}
