package io.zrecord.internal.online;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Threads that help with gathers. The calling thread works as well, and does alone what nobody has time for, so that a gather waits for
 * no queue, and a pool that is closed or fully busy makes it slower at most. Threads appear when they are needed and leave when idle.
 * Thread-safe.
 */
final class GatherPool implements AutoCloseable {
  private static final long IDLE_SECONDS = 10;
  private static final int QUEUE_LENGTH = 256;

  private final int threads;
  private final @Nullable ThreadPoolExecutor executor;

  /** With 0 threads the calling thread does everything. */
  GatherPool(int threads) {
    this.threads = threads;
    if (threads == 0) {
      executor = null;
      return;
    }
    AtomicInteger number = new AtomicInteger();
    executor = new ThreadPoolExecutor(
        threads,
        threads,
        IDLE_SECONDS,
        TimeUnit.SECONDS,
        new ArrayBlockingQueue<>(QUEUE_LENGTH),
        work -> {
          Thread thread = new Thread(work, "zrecord-gather-" + number.incrementAndGet());
          thread.setDaemon(true);
          return thread;
        });
    executor.allowCoreThreadTimeOut(true);
  }

  /**
   * Does the work once for each piece, and returns when all of them are done. The first failure is thrown here; pieces that nobody has
   * begun by then are left out.
   */
  void run(int pieces, IntConsumer work) {
    Sharing sharing = new Sharing(pieces, work);
    for (int i = Math.min(threads, pieces - 1); i > 0 && executor != null; i--) {
      try {
        executor.execute(sharing::workOn);
      } catch (RejectedExecutionException | OutOfMemoryError e) {
        // Busy, closed, or no more threads to be had.
        break;
      }
    }
    sharing.workOn();
    sharing.await();
  }

  /** Lets the threads end. Gathers that are under way are finished by their own threads. */
  @Override
  public void close() {
    if (executor != null) {
      executor.shutdown();
    }
  }

  /** The pieces of one gather, and who has done how many of them. */
  private static final class Sharing {
    private final int pieces;
    private final IntConsumer work;
    private final AtomicInteger next = new AtomicInteger();
    private final CountDownLatch open;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    Sharing(int pieces, IntConsumer work) {
      this.pieces = pieces;
      this.work = work;
      this.open = new CountDownLatch(pieces);
    }

    /** Takes pieces until there are none. */
    void workOn() {
      for (int piece = next.getAndIncrement(); piece < pieces; piece = next.getAndIncrement()) {
        try {
          if (failure.get() == null) {
            work.accept(piece);
          }
        } catch (RuntimeException | Error e) {
          failure.compareAndSet(null, e);
        } finally {
          open.countDown();
        }
      }
    }

    /** Whoever leaves earlier would take back a buffer that others write to. */
    void await() {
      boolean interrupted = false;
      while (true) {
        try {
          open.await();
          break;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      Throwable thrown = failure.get();
      if (thrown instanceof RuntimeException exception) {
        throw exception;
      }
      if (thrown != null) {
        throw (Error) thrown;
      }
    }
  }
}
