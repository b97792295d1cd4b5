package io.zrecord.internal.online;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Whose turn it is to commit. One thread commits for all that wait, and those wake up together when it is done: the ones whose group it
 * was go home without having had a turn of their own. An interrupt does not end a wait. Thread-safe.
 */
final class CommitTurn {
  private boolean isTaken;

  /**
   * Waits for the turn, or for what the caller wanted to be done by another.
   *
   * @return whether the caller has the turn, and must give it back
   */
  synchronized boolean take(BooleanSupplier isDone) {
    await(isDone, Long.MAX_VALUE);
    if (isDone.getAsBoolean()) {
      return false;
    }
    isTaken = true;
    return true;
  }

  /** Waits for the turn; returns whether the caller got it in time. */
  synchronized boolean take(Duration timeout) {
    await(() -> false, timeout.toNanos());
    if (isTaken) {
      return false;
    }
    isTaken = true;
    return true;
  }

  private void await(BooleanSupplier isDone, long timeoutNanos) {
    boolean interrupted = false;
    long start = System.nanoTime();
    while (isTaken && !isDone.getAsBoolean()) {
      long left = timeoutNanos - (System.nanoTime() - start);
      if (left <= 0) {
        break;
      }
      try {
        TimeUnit.NANOSECONDS.timedWait(this, Math.max(left, 1_000_000));
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  synchronized void giveBack() {
    isTaken = false;
    notifyAll();
  }
}
