package io.zrecord.internal.online;

import java.util.function.BooleanSupplier;

/**
 * Whose turn it is to commit. One thread commits for all that wait, and those wake up together when it is done: the ones whose group it
 * was go home without having had a turn of their own. Thread-safe.
 */
final class CommitTurn {
  private boolean isTaken;

  /**
   * Waits for the turn, or for what the caller wanted to be done by another. An interrupt does not end the wait.
   *
   * @return whether the caller has the turn, and must give it back
   */
  synchronized boolean take(BooleanSupplier isDone) {
    boolean interrupted = false;
    try {
      while (isTaken && !isDone.getAsBoolean()) {
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    if (isDone.getAsBoolean()) {
      return false;
    }
    isTaken = true;
    return true;
  }

  synchronized void giveBack() {
    isTaken = false;
    notifyAll();
  }
}
