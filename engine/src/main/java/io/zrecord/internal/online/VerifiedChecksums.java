package io.zrecord.internal.online;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Which values of a field this process has verified, by the checksum that held: an entry that has changed since has another one. Pages
 * appear when they are touched. Thread-safe; a lost update costs another verification.
 */
final class VerifiedChecksums {
  private static final int PAGE_BITS = 12;
  private static final int PAGE_ENTRIES = 1 << PAGE_BITS;

  private volatile AtomicReferenceArray<int @Nullable []> pages = new AtomicReferenceArray<>(16);

  boolean contains(long index, int checksum) {
    AtomicReferenceArray<int @Nullable []> current = pages;
    int page = (int) (index >> PAGE_BITS);
    int[] found = page < current.length() ? current.getAcquire(page) : null;
    return found != null && found[(int) index & (PAGE_ENTRIES - 1)] == nonZero(checksum);
  }

  void add(long index, int checksum) {
    int page = (int) (index >> PAGE_BITS);
    AtomicReferenceArray<int @Nullable []> current = pages;
    if (page >= current.length()) {
      current = grow(page);
    }
    int[] found = current.getAcquire(page);
    if (found == null) {
      found = new int[PAGE_ENTRIES];
      if (!current.compareAndSet(page, null, found)) {
        found = java.util.Objects.requireNonNull(current.getAcquire(page));
      }
    }
    found[(int) index & (PAGE_ENTRIES - 1)] = nonZero(checksum);
  }

  private synchronized AtomicReferenceArray<int @Nullable []> grow(int page) {
    AtomicReferenceArray<int @Nullable []> old = pages;
    if (page < old.length()) {
      return old;
    }
    AtomicReferenceArray<int @Nullable []> grown =
        new AtomicReferenceArray<>(Math.max(page + 1, 2 * old.length()));
    for (int i = 0; i < old.length(); i++) {
      grown.set(i, old.get(i));
    }
    pages = grown;
    return grown;
  }

  private static int nonZero(int checksum) {
    return checksum == 0 ? 1 : checksum;
  }
}
