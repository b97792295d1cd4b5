package io.zrecord.internal.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * One bit for each value or block: whether its checksum held. Bits are only ever set, and what they speak of never changes, so
 * setting one twice, or missing one that is being set, costs a second look and nothing else. Pages are allocated when a bit in
 * them is set. Thread-safe without locks.
 */
final class VerifiedBits {
  private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
  /** 64 Ki bits, 8 KiB a page. */
  private static final int PAGE_SHIFT = 16;

  private static final int WORDS_MASK = (1 << (PAGE_SHIFT - 6)) - 1;

  private final AtomicReferenceArray<long[]> pages;

  /** Bits {@code [0, count)}, all unset. */
  VerifiedBits(long count) {
    pages = new AtomicReferenceArray<>(
        Math.toIntExact((count + (1L << PAGE_SHIFT) - 1) >>> PAGE_SHIFT));
  }

  boolean isSet(long bit) {
    long[] page = pages.getAcquire((int) (bit >>> PAGE_SHIFT));
    return page != null
        && ((long) WORDS.getOpaque(page, (int) (bit >>> 6) & WORDS_MASK) >>> bit & 1) != 0;
  }

  void set(long bit) {
    int number = (int) (bit >>> PAGE_SHIFT);
    long[] page = pages.getAcquire(number);
    if (page == null) {
      pages.compareAndSet(number, null, new long[WORDS_MASK + 1]);
      page = pages.getAcquire(number);
    }
    WORDS.getAndBitwiseOr(page, (int) (bit >>> 6) & WORDS_MASK, 1L << bit);
  }
}
