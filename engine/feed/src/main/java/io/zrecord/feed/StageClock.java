package io.zrecord.feed;

/**
 * Says which stage a loader thread is in, and measures the time in each. One thread writes, any
 * describes.
 */
final class StageClock {
  private final StageTimes times = new StageTimes();
  private volatile Stage stage = Stage.START;
  private volatile long sinceNanos = System.nanoTime();

  /** Ends the current stage, and begins another. */
  void enter(Stage next) {
    long now = System.nanoTime();
    times.add(stage, now - sinceNanos);
    sinceNanos = now;
    stage = next;
  }

  /** Hands on the times that were not handed on before; called by the loader thread. */
  void drainTo(StageTimes all) {
    times.drainTo(all);
  }

  /** Describes the stage for the message of a timeout. */
  String describe() {
    return stage.words() + ", for " + (System.nanoTime() - sinceNanos) / 1_000_000 + " ms";
  }
}
