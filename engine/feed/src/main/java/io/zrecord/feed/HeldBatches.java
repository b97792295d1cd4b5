package io.zrecord.feed;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Remembers where batches were taken that are not closed, if {@code zrecord.traceBatches} is set.
 * Thread-safe.
 */
final class HeldBatches {
  private final boolean traces = Boolean.getBoolean("zrecord.traceBatches");
  private final Map<FeedBatch, Throwable> taken = new ConcurrentHashMap<>();

  void take(FeedBatch batch) {
    if (traces) {
      taken.put(batch, new Throwable("taken here"));
    }
  }

  void release(FeedBatch batch) {
    if (traces) {
      taken.remove(batch);
    }
  }

  /** Describes the stacks, or says how to get them. */
  String describe() {
    if (!traces) {
      return "-Dzrecord.traceBatches=true tells where they were taken";
    }
    StringWriter text = new StringWriter();
    PrintWriter lines = new PrintWriter(text);
    lines.println("They were taken here:");
    taken.values().forEach(trace -> trace.printStackTrace(lines));
    return text.toString();
  }
}
