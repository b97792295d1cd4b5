package io.zrecord.internal.shard.fetch;

import io.zrecord.errors.FileUnavailableException;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs requests to storages side by side, in threads that end when they are idle. Thread-safe. */
public final class Requests {
  /** Requests of this process that wait for answers at a time. The caller runs what is beyond. */
  private static final int MOST = 256;

  private static final long IDLE_SECONDS = 10;

  private static final ThreadPoolExecutor THREADS = new ThreadPoolExecutor(
      0,
      MOST,
      IDLE_SECONDS,
      TimeUnit.SECONDS,
      new SynchronousQueue<>(),
      Requests::thread,
      new ThreadPoolExecutor.CallerRunsPolicy());

  /** Requests for what is needed later, which wait for their turn. */
  private static final int MOST_LATER = 32;

  private static final ThreadPoolExecutor LATER = new ThreadPoolExecutor(
      MOST_LATER,
      MOST_LATER,
      IDLE_SECONDS,
      TimeUnit.SECONDS,
      new LinkedBlockingQueue<>(),
      Requests::thread);

  static {
    LATER.allowCoreThreadTimeOut(true);
  }

  private Requests() {}

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "zrecord-request");
    thread.setDaemon(true);
    return thread;
  }

  /** Runs a request if a thread is free, and waits for nothing. Returns whether it is run. */
  static boolean tryRun(Runnable request) {
    if (THREADS.getActiveCount() >= MOST) {
      return false;
    }
    THREADS.execute(request);
    return true;
  }

  /** Runs a request when those before it were sent. A request that is canceled is not sent. */
  static <T> CompletableFuture<T> later(Supplier<T> request) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    LATER.execute(() -> {
      if (!answer.isDone()) {
        try {
          answer.complete(request.get());
        } catch (RuntimeException | Error e) {
          answer.completeExceptionally(e);
        }
      }
    });
    return answer;
  }

  /**
   * Runs a request for each item and waits for all of them. As many are under way at the same time
   * as the storage wants; one after the other in this thread if that is 1.
   *
   * @throws RuntimeException what a failed request threw; the last requests are not run then
   * @throws FileUnavailableException if this thread was interrupted
   */
  public static <T> void forEach(Storage storage, List<T> items, Consumer<T> request) {
    int atOnce = storage.requestsAtOnce();
    for (int from = 0; from < items.size(); from += atOnce) {
      List<Runnable> requests = new ArrayList<>();
      for (T item : items.subList(from, Math.min(items.size(), from + atOnce))) {
        requests.add(() -> request.accept(item));
      }
      run(storage.location(), requests);
    }
  }

  /**
   * Runs requests and waits for all of them.
   *
   * @param path what is read, for messages
   * @throws RuntimeException what the first failed request threw
   * @throws FileUnavailableException if this thread was interrupted
   */
  public static void run(String path, List<Runnable> requests) {
    List<Future<?>> others = new ArrayList<>();
    for (Runnable request : requests.subList(1, requests.size())) {
      others.add(THREADS.submit(request));
    }
    @Nullable RuntimeException failure = null;
    try {
      requests.get(0).run();
    } catch (RuntimeException e) {
      failure = e;
    }
    for (Future<?> other : others) {
      failure = await(path, other, failure);
    }
    if (failure != null) {
      throw failure;
    }
  }

  private static @Nullable RuntimeException await(
      String path, Future<?> request, @Nullable RuntimeException failure) {
    if (failure != null) {
      request.cancel(true);
      return failure;
    }
    try {
      request.get();
      return null;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      return e.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      request.cancel(true);
      return new FileUnavailableException(
          path,
          "Cannot read " + path
              + ": the thread was interrupted. Nothing is known to be damaged; try again",
          e);
    }
  }
}
