package io.zrecord.internal.online;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Threads that wait for a group to be committed. When it is, each that wakes up wakes up others, so that it does not fall to one thread
 * alone. Thread-safe.
 */
final class GroupWaiters {
  /** How many a thread wakes up. */
  private static final int FAN_OUT = 2;

  private final ConcurrentLinkedQueue<Thread> parked = new ConcurrentLinkedQueue<>();
  private final AtomicInteger committerCount = new AtomicInteger();
  private volatile boolean isPublished;

  /** Counts a thread that wants the group to be committed. */
  void join() {
    committerCount.incrementAndGet();
  }

  int committerCount() {
    return committerCount.get();
  }

  boolean isPublished() {
    return isPublished;
  }

  /** Lets all go. */
  void setPublished() {
    isPublished = true;
    wakeSome();
  }

  /** Waits until the group is published, or the thread is woken because it may have a turn. An interrupt does not end the wait. */
  void await(BooleanSupplier mayHaveTurn) {
    boolean interrupted = false;
    Thread self = Thread.currentThread();
    parked.add(self);
    while (!isPublished && !mayHaveTurn.getAsBoolean()) {
      LockSupport.park(this);
      interrupted |= Thread.interrupted();
    }
    parked.remove(self);
    if (isPublished) {
      wakeSome();
    }
    if (interrupted) {
      self.interrupt();
    }
  }

  /** Wakes one, to have a turn. */
  void wakeOne() {
    Thread first = parked.peek();
    if (first != null) {
      LockSupport.unpark(first);
    }
  }

  /** Wakes all, to see that the writer has failed. */
  void wakeAll() {
    parked.forEach(LockSupport::unpark);
  }

  private void wakeSome() {
    for (int i = 0; i < FAN_OUT; i++) {
      Thread waiter = parked.poll();
      if (waiter == null) {
        return;
      }
      LockSupport.unpark(waiter);
    }
  }
}
