package io.zrecord.internal.shard.fetch;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A value that one thread makes at its first use. Other threads that want the value meanwhile wait
 * for that thread. A failure is not remembered. Thread-safe; no lock is held while the value is
 * made, which may take a request.
 */
public final class FirstUse<T> {
  private final AtomicReference<@Nullable CompletableFuture<T>> state = new AtomicReference<>();

  /**
   * Returns the value.
   *
   * @param maker makes the value, if it is not there; what the maker throws, the caller gets
   */
  public T get(Supplier<T> maker) {
    CompletableFuture<T> own = new CompletableFuture<>();
    CompletableFuture<T> found = state.compareAndExchange(null, own);
    if (found != null) {
      return await(found, maker);
    }
    try {
      T value = maker.get();
      own.complete(value);
      return value;
    } finally {
      if (!own.isDone()) {
        state.set(null);
        own.completeExceptionally(new IllegalStateException("The request failed"));
      }
    }
  }

  private static <T> T await(CompletableFuture<T> found, Supplier<T> maker) {
    try {
      return found.join();
    } catch (CompletionException e) {
      // Another thread's request failed, or that thread was interrupted.
      return maker.get();
    }
  }
}
