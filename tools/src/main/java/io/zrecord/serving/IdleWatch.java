package io.zrecord.serving;

import java.time.Duration;

/**
 * Ends the engine when nothing was asked for some time and no session is open. Thread-safe: what is
 * asked runs within {@link #begin} and {@link #end}, and is never cut off.
 */
final class IdleWatch {
  private static final long LOOK_MILLIS = 500;

  private final long idleNanos;
  private final Runnable onIdle;
  private long sinceNanos = System.nanoTime();
  private int busyCount;

  IdleWatch(Duration idle, Runnable onIdle) {
    this.idleNanos = idle.toNanos();
    this.onIdle = onIdle;
  }

  void start() {
    Thread thread = new Thread(this::watch, "zrecord-idle");
    thread.setDaemon(true);
    thread.start();
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(LOOK_MILLIS);
        synchronized (this) {
          if (busyCount == 0 && System.nanoTime() - sinceNanos > idleNanos) {
            onIdle.run();
            return;
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Says that something begins which must not be cut off. */
  synchronized void begin() {
    busyCount++;
  }

  /** Says that it has ended. */
  synchronized void end() {
    busyCount--;
    sinceNanos = System.nanoTime();
  }
}
