package io.zrecord.internal.store.read;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The values of a field that this process has verified. Bytes that an entry points to never change,
 * so a fingerprint of the entry is remembered for each record. A changed entry has another
 * fingerprint, except with a chance of 2⁻³². Pages are allocated when touched. Thread-safe; a lost
 * update costs another verification.
 */
final class VerifiedEntries {
  private static final int PAGE_BITS = 16;
  private static final int PAGE_ENTRIES = 1 << PAGE_BITS;

  private volatile AtomicReferenceArray<int @Nullable []> pages = new AtomicReferenceArray<>(16);

  /**
   * Marks the slots {@code [slot, slot + count)}, of the records {@code indices[from, from +
   * count)}, that were not verified.
   */
  void findDue(long[] indices, int from, int count, LiveSlots slots, int slot) {
    AtomicReferenceArray<int @Nullable []> current = pages;
    int[] found = slots.checksum;
    // A separate loop, so that the cache misses overlap.
    for (int k = 0; k < count; k++) {
      long index = indices[from + k];
      int page = (int) (index >> PAGE_BITS);
      int[] fingerprints = page < current.length() ? current.getPlain(page) : null;
      found[slot + k] = fingerprints == null ? 0 : fingerprints[place(index)];
    }
    for (int k = slot; k < slot + count; k++) {
      slots.isDue[k] = found[k] != fingerprint(slots.word0[k], slots.word1[k]);
    }
  }

  void add(long index, long word0, long word1) {
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
    found[place(index)] = fingerprint(word0, word1);
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

  private static int place(long index) {
    return (int) index & (PAGE_ENTRIES - 1);
  }

  /** Returns a fingerprint of an entry; never 0, which marks an unverified record. */
  private static int fingerprint(long word0, long word1) {
    long mixed = (word0 * 0x9e37_79b9_7f4a_7c15L ^ word1) * 0xbf58_476d_1ce4_e5b9L;
    return (int) (mixed >>> 32) | 1;
  }
}
