package io.zrecord.internal.store;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Threads that wait for the commit of a group. After the commit, each woken thread wakes others, so
 * that waking does not fall to one thread alone. Thread-safe.
 */
public final class GroupWaiters {
  /** Number of threads that a woken thread wakes. */
  private static final int FAN_OUT = 2;

  private final ConcurrentLinkedQueue<Thread> parked = new ConcurrentLinkedQueue<>();
  private final AtomicInteger committerCount = new AtomicInteger();
  private volatile boolean isPublished;

  /** Counts a thread that waits for the commit of the group. */
  public void join() {
    committerCount.incrementAndGet();
  }

  public int committerCount() {
    return committerCount.get();
  }

  public boolean isPublished() {
    return isPublished;
  }

  /** Releases all threads. */
  public void setPublished() {
    isPublished = true;
    wakeSome();
  }

  /**
   * Waits until the group is published, or the thread is woken because it may take the turn. An
   * interrupt does not end the wait.
   */
  public void await(BooleanSupplier mayHaveTurn) {
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

  /** Wakes one thread to take the turn. */
  public void wakeOne() {
    Thread first = parked.peek();
    if (first != null) {
      LockSupport.unpark(first);
    }
  }

  /** Wakes all threads to notice that the writer has failed. */
  public void wakeAll() {
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
