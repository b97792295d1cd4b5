package io.zrecord.internal.store.write;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * The turn to commit, held by one thread at a time. Threads that wait for a commit wait in their
 * group. Thread-safe.
 */
final class CommitTurn {
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final AtomicBoolean isTaken = new AtomicBoolean();

  /** Takes the turn if it is free. The caller must give the turn back. */
  boolean tryTake() {
    return !isTaken.get() && isTaken.compareAndSet(false, true);
  }

  /**
   * Waits for the turn, for rare operations. An interrupt does not end the wait. Returns whether
   * the turn came in time.
   */
  boolean take(Duration timeout) {
    boolean interrupted = false;
    long start = System.nanoTime();
    boolean isMine = tryTake();
    while (!isMine && System.nanoTime() - start < timeout.toNanos()) {
      LockSupport.parkNanos(this, PAUSE_NANOS);
      interrupted |= Thread.interrupted();
      isMine = tryTake();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return isMine;
  }

  boolean isFree() {
    return !isTaken.get();
  }

  void giveBack() {
    isTaken.set(false);
  }
}
