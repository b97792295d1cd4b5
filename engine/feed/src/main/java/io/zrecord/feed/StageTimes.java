package io.zrecord.feed;

/** Counts the nanoseconds that were spent in each stage. Not thread-safe. */
@SuppressWarnings("EnumOrdinal") // A map of boxed numbers would allocate at every change of stage.
final class StageTimes {
  private final long[] nanos = new long[Stage.values().length];

  void add(Stage stage, long more) {
    nanos[stage.ordinal()] += more;
  }

  long nanos(Stage stage) {
    return nanos[stage.ordinal()];
  }

  /** Adds all times to others, and starts from zero. */
  void drainTo(StageTimes all) {
    for (int i = 0; i < nanos.length; i++) {
      all.nanos[i] += nanos[i];
      nanos[i] = 0;
    }
  }
}
