package io.zrecord.table;

import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A storage whose user is killed before one of its calls, which are counted from 0, those of the
 * files that it writes included: no later call has an effect.
 */
public final class MortalStorage {
  /** No handler of exceptions takes it. */
  public static final class KilledError extends Error {
    private static final long serialVersionUID = 1;
  }

  /** Calls that are answered without the storage. */
  private static final Set<String> ASKS_NOTHING =
      Set.of("location", "pathOf", "isRemote", "requestsAtOnce");

  private final AtomicInteger calls = new AtomicInteger();
  private final Storage storage;
  private final int last;

  public MortalStorage(Storage target, int call) {
    this.last = call;
    this.storage = mortal(Storage.class, target);
  }

  private <T> T mortal(Class<T> type, T target) {
    return type.cast(Proxy.newProxyInstance(
        type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
          if (method.getName().equals("identity")) {
            return this;
          }
          if (!ASKS_NOTHING.contains(method.getName()) && calls.getAndIncrement() >= last) {
            throw new KilledError();
          }
          try {
            Object result = method.invoke(target, given);
            return result instanceof WritableFile file ? mortal(WritableFile.class, file) : result;
          } catch (InvocationTargetException e) {
            throw Objects.requireNonNull(e.getCause());
          }
        }));
  }

  public Storage storage() {
    return storage;
  }

  public int calls() {
    return calls.get();
  }

  public boolean isKilled() {
    return calls.get() > last;
  }
}
