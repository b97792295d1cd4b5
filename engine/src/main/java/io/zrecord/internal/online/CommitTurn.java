package io.zrecord.internal.online;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** Whose turn it is to commit: one thread's at a time. Those that wait for a commit wait in their group. Thread-safe. */
final class CommitTurn {
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final AtomicBoolean isTaken = new AtomicBoolean();

  /** Takes the turn if nobody has it; the caller must give it back. */
  boolean tryTake() {
    return !isTaken.get() && isTaken.compareAndSet(false, true);
  }

  /** Waits for the turn, for what is done seldom; an interrupt does not end the wait. Returns whether it came in time. */
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
