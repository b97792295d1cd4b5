package io.zrecord.table;

import io.zrecord.testing.MemoryStorage;
import io.zrecord.testing.ObjectStorage;
import java.time.Instant;
import java.time.InstantSource;

/** Chooses the storage of the tests of tables: files in memory, or a store of objects. */
final class Simulation {
  /** Tests that run on a store of objects do so in one thread, and its workers'. */
  private static volatile boolean isOfObjects;

  /** A test. */
  interface Body {
    void run() throws Exception;
  }

  private Simulation() {}

  /** Returns a new storage whose clock stands still. */
  static MemoryStorage storage() {
    return storage(InstantSource.fixed(Instant.ofEpochMilli(1)));
  }

  /** Returns a new storage that dates its files by a clock. */
  static MemoryStorage storage(InstantSource clock) {
    return isOfObjects ? new ObjectStorage(clock) : new MemoryStorage(clock);
  }

  /** Chooses stores of objects from now on, or files. */
  static void useObjects(boolean objects) {
    isOfObjects = objects;
  }

  /** Runs a test whose storages are stores of objects. */
  static void ofObjects(Body test) throws Exception {
    useObjects(true);
    try {
      test.run();
    } finally {
      useObjects(false);
    }
  }
}
