package io.zrecord.feed;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Slots on their way between loaders and the consumer: free ones, and loaded ones in the order of their batches. There are as many as
 * the feed is deep, which bounds what is loaded ahead. Thread-safe.
 */
final class Handover {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition isFree = lock.newCondition();
  private final Condition isLoaded = lock.newCondition();
  private final ArrayDeque<Slot> free = new ArrayDeque<>();
  private final List<Slot> loaded = new ArrayList<>();
  private final int depth;
  private int loaderCount;
  private long nextNumber;
  private @Nullable Throwable failure;
  private long loadNanos;
  private long waitNanos;

  Handover(List<Slot> slots, int loaderCount) {
    this.depth = slots.size();
    this.free.addAll(slots);
    this.loaderCount = loaderCount;
  }

  Slot takeFree() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long start = System.nanoTime();
      while (free.isEmpty()) {
        isFree.await();
      }
      waitNanos += System.nanoTime() - start;
      return free.remove();
    } finally {
      lock.unlock();
    }
  }

  void giveBack(Slot slot) {
    lock.lock();
    try {
      free.add(slot);
      isFree.signal();
    } finally {
      lock.unlock();
    }
  }

  void deliver(Slot slot, long nanos) {
    lock.lock();
    try {
      loadNanos += nanos;
      loaded.add(slot);
      isLoaded.signal();
    } finally {
      lock.unlock();
    }
  }

  /** What a loader failed with outside of any batch. */
  void fail(Throwable cause) {
    lock.lock();
    try {
      failure = cause;
      isLoaded.signal();
    } finally {
      lock.unlock();
    }
  }

  void endLoader() {
    lock.lock();
    try {
      loaderCount--;
      isLoaded.signal();
      isFree.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes the next batch in order.
   *
   * @return null if there is none any more
   * @throws Timeout if it did not come in time
   */
  @Nullable
  Slot takeLoaded(long timeoutNanos) throws InterruptedException, Timeout {
    lock.lockInterruptibly();
    try {
      long left = timeoutNanos;
      while (true) {
        for (int i = 0; i < loaded.size(); i++) {
          if (loaded.get(i).place().number() == nextNumber) {
            nextNumber++;
            return loaded.remove(i);
          }
        }
        if (failure != null) {
          throw new IllegalStateException("A loader of the feed failed", failure);
        }
        if (loaderCount == 0) {
          return null;
        }
        if (left <= 0) {
          throw new Timeout();
        }
        left = isLoaded.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether the next batch is there. */
  boolean isReady() {
    lock.lock();
    try {
      return loaded.stream().anyMatch(slot -> slot.place().number() == nextNumber);
    } finally {
      lock.unlock();
    }
  }

  /** Slots that are neither free nor loaded: being loaded, or held by the consumer. */
  int outsideCount() {
    lock.lock();
    try {
      return depth - free.size() - loaded.size();
    } finally {
      lock.unlock();
    }
  }

  long[] loadAndWaitNanos() {
    lock.lock();
    try {
      return new long[] {loadNanos, waitNanos};
    } finally {
      lock.unlock();
    }
  }

  /** The batch did not come in time. */
  static final class Timeout extends Exception {
    private static final long serialVersionUID = 1L;

    Timeout() {
      super(null, null, false, false);
    }
  }
}
