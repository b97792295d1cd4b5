package io.zrecord.testing;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;

/** Measures the direct buffers of this process, in bytes. Thread-safe. */
public final class DirectMemory {
  private static final int MOST_COLLECTIONS = 20;
  private static final long LONGEST_COLLECTION_MILLIS = 60_000;

  private DirectMemory() {}

  /** Returns what direct buffers take now, those that nobody uses any more included. */
  public static long usedBytes() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  /**
   * Frees the direct buffers that earlier tests left and nobody uses, and returns what the others
   * take. A growth that is measured from here is not made smaller by a collection on the way.
   */
  public static long settledBytes() {
    long used = usedBytes();
    for (int i = 0; i < MOST_COLLECTIONS; i++) {
      // What the first one found is freed when a reference that the second one found is handled.
      collect();
      collect();
      long left = usedBytes();
      if (left == used) {
        break;
      }
      used = left;
    }
    return used;
  }

  /**
   * Collects garbage, and returns when a reference to garbage was handled. References that the same
   * collection found may be handled later.
   */
  private static void collect() {
    ReferenceQueue<Object> handled = new ReferenceQueue<>();
    PhantomReference<Object> garbage = new PhantomReference<>(new Object(), handled);
    System.gc();
    try {
      if (handled.remove(LONGEST_COLLECTION_MILLIS) != garbage) {
        throw new AssertionError("no garbage was collected");
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
