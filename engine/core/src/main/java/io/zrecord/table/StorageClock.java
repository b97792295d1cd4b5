package io.zrecord.table;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * The clock of a storage, which dates all files and may differ from that of this machine.
 * Thread-safe.
 */
final class StorageClock {
  private static final String DIRECTORY = "list";

  /** The longest wait takes a little over two seconds. No storage counts in more than seconds. */
  private static final int MOST_LOOKS = 11;

  private final Storage storage;

  StorageClock(Storage storage) {
    this.storage = storage;
  }

  /** Returns the time that the storage gives to what is written now. */
  long millis() {
    String file = UUID.randomUUID() + ".json";
    String name = DIRECTORY + "/" + file;
    try {
      storage.publish(name, SealedJson.seal(SealedJson.object()));
    } catch (CommitOutcomeUnknownException e) {
      // The list tells whether the file is there, and nothing depends on its durability.
    }
    try {
      return storage.list(DIRECTORY).stream()
          .filter(listed -> listed.name().equals(file))
          .findFirst()
          .map(StoredFile::modifiedMillis)
          .orElseThrow(() -> new StorageException(
              storage.pathOf(name),
              "Cannot tell the time of " + storage.location() + ": " + storage.pathOf(name)
                  + " was written, but " + DIRECTORY + " does not list it"));
    } finally {
      storage.delete(name);
    }
  }

  /**
   * Waits until the storage dates what is written now after a time that it gave to a file. Gives up
   * if the clock does not move on.
   */
  void awaitAfter(long pastMillis) {
    for (int look = 0; look < MOST_LOOKS && millis() <= pastMillis; look++) {
      LockSupport.parkNanos(1_000_000L << look);
    }
  }
}
