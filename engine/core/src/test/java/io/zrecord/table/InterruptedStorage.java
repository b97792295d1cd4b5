package io.zrecord.table;

import io.zrecord.storage.Storage;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/** A storage that lets something else happen before one of its calls, which are counted from 0. */
final class InterruptedStorage {
  private final AtomicInteger calls = new AtomicInteger();
  private final Storage storage;

  InterruptedStorage(Storage target, int call, Runnable interruption) {
    this.storage = (Storage) Proxy.newProxyInstance(
        Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (proxy, method, given) -> {
          if (calls.getAndIncrement() == call) {
            interruption.run();
          }
          try {
            return method.invoke(target, given);
          } catch (InvocationTargetException e) {
            throw Objects.requireNonNull(e.getCause());
          }
        });
  }

  Storage storage() {
    return storage;
  }

  int calls() {
    return calls.get();
  }
}
