package io.zrecord.feed;

/**
 * Which stage a loader thread is in, and the time that it spent in each. Written by one thread,
 * described by any.
 */
final class StageClock {
  private final StageTimes times = new StageTimes();
  private volatile Stage stage = Stage.START;
  private volatile long sinceNanos = System.nanoTime();

  /** Ends the stage that it is in. */
  void enter(Stage next) {
    long now = System.nanoTime();
    times.add(stage, now - sinceNanos);
    sinceNanos = now;
    stage = next;
  }

  /** Hands on what was not handed on before; to be called by the thread itself. */
  void drainTo(StageTimes all) {
    times.drainTo(all);
  }

  /** For the message of a timeout. */
  String describe() {
    return stage.words() + ", for " + (System.nanoTime() - sinceNanos) / 1_000_000 + " ms";
  }
}
