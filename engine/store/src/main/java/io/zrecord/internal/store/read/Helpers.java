package io.zrecord.internal.store.read;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Threads that help readers of a store, and the objects that these threads work with. Thread-safe.
 */
final class Helpers implements AutoCloseable {
  private final SharedValues shared;
  private final GatherPool pool;
  private final List<Queue<LiveValues>> idleValues = new ArrayList<>();

  Helpers(SharedValues shared, int threads) {
    this.shared = shared;
    this.pool = new GatherPool(threads);
    for (int i = 0; i < shared.fieldCount(); i++) {
      idleValues.add(new ConcurrentLinkedQueue<>());
    }
  }

  GatherPool pool() {
    return pool;
  }

  /** Takes an object for a helper to work with. The helper gives the object back. */
  LiveValues takeValues(int field) {
    LiveValues values = idleValues.get(field).poll();
    return values != null ? values : new LiveValues(shared, field, true);
  }

  /** Takes an object back from a helper. */
  void giveBack(int field, LiveValues values) {
    idleValues.get(field).add(values);
  }

  /** Lets the threads end. */
  @Override
  public void close() {
    pool.close();
  }
}
