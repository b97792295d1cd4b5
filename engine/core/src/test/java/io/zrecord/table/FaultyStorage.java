package io.zrecord.table;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * A storage that fails from one of its calls on, for a number of calls. Calls are counted from 0,
 * over all methods. Thread-safe, as a commit checks its shards side by side.
 */
final class FaultyStorage implements Storage {
  /** How a call fails. */
  enum Fault {
    /** Without effect, and it says so. */
    BEFORE,
    /** The call takes effect, but the answer is lost. */
    RESPONSE_LOST,
    /** The request is lost, and nobody knows. */
    REQUEST_LOST,
    /** The answer is lost, and the request takes effect some calls later, if at all it can. */
    DELAYED,
    /**
     * It takes effect, then the storage says that the name is taken, like a client that repeats its
     * request.
     */
    REPEATED
  }

  /** Calls between one that is delayed and its effect: the reader of the name sees nothing. */
  private static final int DELAY_CALLS = 1;

  private final Storage storage;
  private final Fault fault;
  private final int firstFailing;
  private final int failing;
  private final SortedMap<Integer, Runnable> delayed = new TreeMap<>();
  private int calls;

  FaultyStorage(Storage storage, Fault fault, int firstFailing, int failing) {
    this.storage = storage;
    this.fault = fault;
    this.firstFailing = firstFailing;
    this.failing = failing;
  }

  synchronized int calls() {
    return calls;
  }

  /** Lets the requests take effect that are still under way. */
  synchronized void landDelayed() {
    delayed.values().forEach(Runnable::run);
    delayed.clear();
  }

  private synchronized boolean failsNow() {
    int call = calls++;
    delayed.entrySet().removeIf(entry -> {
      boolean isDue = entry.getKey() <= call;
      if (isDue) {
        entry.getValue().run();
      }
      return isDue;
    });
    return call >= firstFailing && call - firstFailing < failing;
  }

  private <T> T call(Supplier<T> action) {
    if (failsNow()) {
      throw new StorageException(location(), "injected failure of call " + (calls - 1));
    }
    return action.get();
  }

  @Override
  public boolean publish(String name, byte[] content) {
    if (!failsNow()) {
      return storage.publish(name, content);
    }
    String message = "injected failure of call " + (calls - 1);
    switch (fault) {
      case BEFORE -> throw new StorageException(pathOf(name), message);
      case RESPONSE_LOST -> storage.publish(name, content);
      case REPEATED -> {
        storage.publish(name, content);
        return false;
      }
      case REQUEST_LOST -> {}
      case DELAYED -> delayed.put(calls + DELAY_CALLS, () -> storage.publish(name, content));
    }
    throw new CommitOutcomeUnknownException(pathOf(name), message);
  }

  @Override
  public String location() {
    return storage.location();
  }

  @Override
  public boolean isRemote() {
    return storage.isRemote();
  }

  @Override
  public int requestsAtOnce() {
    return storage.requestsAtOnce();
  }

  @Override
  public boolean exists(String name) {
    return call(() -> storage.exists(name));
  }

  @Override
  public long lengthBytes(String name) {
    return call(() -> storage.lengthBytes(name));
  }

  @Override
  public List<StoredFile> list(String directory) {
    return call(() -> storage.list(directory));
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return call(() -> storage.read(name, maxBytes));
  }

  @Override
  public ReadableFile open(String name) {
    return call(() -> storage.open(name));
  }

  @Override
  public WritableFile create(String name) {
    return call(() -> storage.create(name));
  }

  @Override
  public void replace(String name, byte[] content) {
    call(() -> {
      storage.replace(name, content);
      return true;
    });
  }

  @Override
  public void forceDirectory(String directory) {
    call(() -> {
      storage.forceDirectory(directory);
      return true;
    });
  }

  @Override
  public void delete(String name) {
    call(() -> {
      storage.delete(name);
      return true;
    });
  }
}
