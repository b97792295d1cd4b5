package io.zrecord.spark.ddl;

import io.zrecord.errors.CommitConflictException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Attempts to commit a statement while others change the same table. Pauses are random and grow, so
 * that of many statements each finds its turn. Belongs to one thread.
 */
final class Attempts {
  /** How long a statement is tried at least. A test of many statements at once has more time. */
  static volatile Duration patience = Duration.ofMinutes(1);

  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final long began = System.nanoTime();
  private long pauseNanos = TimeUnit.MILLISECONDS.toNanos(10);

  /**
   * Commits once. Pauses after a conflict.
   *
   * @return whether there was no conflict
   * @throws CommitConflictException if there were conflicts for {@link #patience}, or the thread
   *     was interrupted
   */
  boolean isDone(Runnable commit) {
    try {
      commit.run();
      return true;
    } catch (CommitConflictException e) {
      if (System.nanoTime() - began > patience.toNanos()
          || Thread.currentThread().isInterrupted()) {
        throw e;
      }
      LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(pauseNanos));
      pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
      return false;
    }
  }
}
