package io.zrecord.rebalance;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the parts of a rewrite side by side, and counts their records. The first part that fails
 * ends all parts. For one run.
 */
final class RewriteRun {
  private static final int MAX_THREADS = 1000;

  private int threads = Math.min(4, Runtime.getRuntime().availableProcessors());
  private Map<String, String> properties = Map.of();
  private LongConsumer onRecords = records -> {};
  private final AtomicLong records = new AtomicLong();
  private volatile boolean isStopped;

  void threads(int count) {
    if (count < 1 || count > MAX_THREADS) {
      throw new IllegalArgumentException(
          "threads is " + count + "; it must be 1 to " + MAX_THREADS);
    }
    threads = count;
  }

  void properties(Map<String, String> strings) {
    properties = Map.copyOf(strings);
  }

  Map<String, String> properties() {
    return properties;
  }

  void onRecords(LongConsumer listener) {
    onRecords = listener;
  }

  /** Adds written records, from any thread. */
  void countRecords(long count) {
    onRecords.accept(records.addAndGet(count));
  }

  /**
   * Requires that the run continues.
   *
   * @throws CancellationException if another part failed, or the thread that started the run was
   *     interrupted
   */
  void requireGoingOn() {
    if (isStopped) {
      throw new CancellationException("Another part of the rewrite failed");
    }
  }

  /**
   * Runs all parts. If a part fails, the threads of the other parts are interrupted, and no other
   * part is begun. No part runs any more when this returns.
   *
   * @param ifInterrupted the message if this thread is interrupted
   * @throws RuntimeException the exception of the first part that failed
   */
  void run(List<Runnable> parts, String ifInterrupted) {
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    CompletionService<@Nullable Void> done = new ExecutorCompletionService<>(executor);
    try {
      for (Runnable part : parts) {
        Future<@Nullable Void> unused = done.submit(() -> runUnlessStopped(part), null);
      }
      for (int i = 0; i < parts.size(); i++) {
        done.take().get();
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(ifInterrupted, e);
    } finally {
      isStopped = true;
      executor.shutdownNow();
      awaitEnd(executor);
    }
  }

  private void runUnlessStopped(Runnable part) {
    if (isStopped) {
      return;
    }
    try {
      part.run();
    } catch (RuntimeException | Error e) {
      isStopped = true;
      throw e;
    }
  }

  private static void awaitEnd(ExecutorService executor) {
    boolean interrupted = false;
    boolean ended = false;
    while (!ended) {
      try {
        ended = executor.awaitTermination(1, TimeUnit.MINUTES);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
