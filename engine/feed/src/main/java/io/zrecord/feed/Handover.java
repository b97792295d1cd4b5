package io.zrecord.feed;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Hands slots to and fro between loaders and the consumer: free slots, slots being loaded, and
 * loaded slots. Their number is the depth of the feed and bounds what is loaded ahead. A bound of
 * bytes may do so earlier. Thread-safe.
 */
final class Handover {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition hasRoom = lock.newCondition();
  private final Condition isLoaded = lock.newCondition();
  private final ArrayDeque<Slot> free = new ArrayDeque<>();
  private final List<Slot> loading = new ArrayList<>();
  private final List<Slot> loaded = new ArrayList<>();
  private final int depth;
  private final Order order;
  private final long maxBytes;
  private final Set<Long> deliveredBefore;
  private final StageTimes stages = new StageTimes();
  private int loaderCount;
  private long nextNumber;
  private long reservedBytes;
  private @Nullable Throwable failure;
  private long batches;
  private long records;
  private long bytes;
  private long readyBatches;
  private long idleNanos;
  private long droppedBatches;
  private long badRecords;
  private boolean isClosed;
  private boolean isStopped;

  /** Says which loaded batch is delivered next. */
  enum Order {
    /** The batch that follows in the plan. */
    PLANNED,
    /** The batch that is ready first. */
    AS_COMPLETED
  }

  /**
   * @param deliveredBefore numbers of batches that will not come, because they came before the feed
   *     was resumed
   */
  Handover(
      List<Slot> slots, int loaderCount, Order order, long maxBytes, Set<Long> deliveredBefore) {
    this.depth = slots.size();
    this.free.addAll(slots);
    this.loaderCount = loaderCount;
    this.order = order;
    this.maxBytes = maxBytes;
    this.deliveredBefore = deliveredBefore;
    skipDelivered();
  }

  /** Returns a slot to be loaded; null if there is none now. */
  @Nullable
  Slot pollFree() {
    lock.lock();
    try {
      return isStopped ? null : free.poll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a slot to be loaded; returns null if the feed is stopped. */
  @Nullable
  Slot takeFree() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (free.isEmpty() && !isStopped) {
        hasRoom.await();
      }
      return isStopped ? null : free.remove();
    } finally {
      lock.unlock();
    }
  }

  /** Notes that a slot has a batch to load. */
  void begin(Slot slot) {
    lock.lock();
    try {
      loading.add(slot);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the bytes of a batch find room. The first batch that is not delivered always finds
   * room, because the consumer waits for it.
   */
  void reserve(Slot slot, long newBytes) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (reservedBytes + newBytes > maxBytes && !isFirst(slot) && !isClosed) {
        hasRoom.await();
      }
      reservedBytes += newBytes;
      slot.reserve(newBytes);
    } finally {
      lock.unlock();
    }
  }

  /** Corrects the bytes of a batch. */
  void adjust(Slot slot, long bytes) {
    lock.lock();
    try {
      reservedBytes += bytes - slot.reservedBytes();
      slot.reserve(bytes);
    } finally {
      lock.unlock();
    }
  }

  private boolean isFirst(Slot slot) {
    for (int i = 0; i < loading.size(); i++) {
      if (loading.get(i).number() < slot.number()) {
        return false;
      }
    }
    return loaded.isEmpty() || (order == Order.PLANNED && slot.number() == nextNumber);
  }

  void giveBack(Slot slot) {
    slot.trim(maxBytes / depth);
    lock.lock();
    try {
      release(slot);
    } finally {
      lock.unlock();
    }
  }

  private void release(Slot slot) {
    reservedBytes -= slot.reservedBytes();
    slot.reserve(0);
    free.add(slot);
    hasRoom.signalAll();
  }

  /** Hands over a batch that is loaded, was dropped, or has failed. */
  void deliver(Slot slot, StageClock clock) {
    lock.lock();
    try {
      clock.drainTo(stages);
      loading.remove(slot);
      loaded.add(slot);
      isLoaded.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Reports what a loader failed with outside of any batch. */
  void fail(Throwable cause) {
    lock.lock();
    try {
      failure = cause;
      isLoaded.signal();
    } finally {
      lock.unlock();
    }
  }

  void endLoader(StageClock clock) {
    lock.lock();
    try {
      clock.drainTo(stages);
      loaderCount--;
      isLoaded.signal();
      hasRoom.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes the next batch, which may have been dropped or have failed.
   *
   * @return null if there is none any more
   * @throws Timeout if the batch did not come in time
   */
  @Nullable
  Slot takeLoaded(long timeoutNanos) throws InterruptedException, Timeout {
    lock.lockInterruptibly();
    try {
      Slot ready = removeNext();
      if (ready != null) {
        count(ready, 1);
        return ready;
      }
      long start = System.nanoTime();
      try {
        Slot awaited = awaitNext(timeoutNanos);
        if (awaited != null) {
          count(awaited, 0);
        }
        return awaited;
      } finally {
        idleNanos += System.nanoTime() - start;
      }
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Slot awaitNext(long timeoutNanos) throws InterruptedException, Timeout {
    long left = timeoutNanos;
    while (true) {
      Slot slot = removeNext();
      if (slot != null) {
        return slot;
      }
      if (failure != null) {
        throw new IllegalStateException("A loader of the feed failed: " + failure, failure);
      }
      if (loaderCount == 0) {
        return null;
      }
      if (left <= 0) {
        throw new Timeout();
      }
      left = isLoaded.awaitNanos(left);
    }
  }

  private void skipDelivered() {
    while (!deliveredBefore.isEmpty() && deliveredBefore.contains(nextNumber)) {
      nextNumber++;
    }
  }

  private @Nullable Slot removeNext() {
    for (int i = 0; i < loaded.size(); i++) {
      if (order == Order.AS_COMPLETED || loaded.get(i).number() == nextNumber) {
        nextNumber++;
        skipDelivered();
        // A loader that waits for bytes may have the first batch now.
        hasRoom.signalAll();
        return loaded.remove(i);
      }
    }
    return null;
  }

  private void count(Slot slot, int ready) {
    badRecords += slot.badRecords().size();
    if (slot.isDropped()) {
      droppedBatches++;
    } else if (slot.failure() == null) {
      batches++;
      records += slot.count();
      bytes += slot.lengthBytes();
      readyBatches += ready;
    }
  }

  /** Returns the number of slots that the consumer holds. */
  int heldCount() {
    lock.lock();
    try {
      return depth - free.size() - loading.size() - loaded.size();
    } finally {
      lock.unlock();
    }
  }

  FeedStatistics statistics(Transfers transfers) {
    lock.lock();
    try {
      return new FeedStatistics(
          batches,
          records,
          bytes,
          readyBatches,
          droppedBatches,
          badRecords,
          idleNanos,
          stages.nanos(Stage.SAMPLE),
          stages.nanos(Stage.READ),
          stages.nanos(Stage.DECODE),
          stages.nanos(Stage.TRANSFORM) + stages.nanos(Stage.COLLATE),
          stages.nanos(Stage.PLACE),
          stages.nanos(Stage.WAIT) + stages.nanos(Stage.RESERVE),
          transfers.requests(),
          transfers.bytes(),
          transfers.waitNanos());
    } finally {
      lock.unlock();
    }
  }

  /** Stops the loaders: those that wait for a slot get none. */
  void stop() {
    lock.lock();
    try {
      isStopped = true;
      hasRoom.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Stops the loaders, and wakes all threads that wait. */
  void close() {
    lock.lock();
    try {
      isStopped = true;
      isClosed = true;
      hasRoom.signalAll();
      isLoaded.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Says that the batch did not come in time. */
  static final class Timeout extends Exception {
    private static final long serialVersionUID = 1L;

    Timeout() {
      super(null, null, false, false);
    }
  }
}
