package io.zrecord.internal.store.read;

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
 * Threads that help with gathers. The calling thread works too, and does alone whatever no helper
 * has time for. So a gather waits for no queue, and a closed or busy pool only makes gathers
 * slower. Threads start on demand and leave when idle. Thread-safe.
 */
final class GatherPool implements AutoCloseable {
  private static final long IDLE_SECONDS = 10;
  private static final int QUEUE_LENGTH = 256;

  private final int threads;
  private final @Nullable ThreadPoolExecutor executor;

  /** Creates a pool. With 0 threads the calling thread does everything. */
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
   * Runs the work once for each piece, and returns after the last piece. The first failure is
   * thrown here; pieces not begun by then are left out.
   */
  void run(int pieces, IntConsumer work) {
    Sharing sharing = new Sharing(pieces, work);
    for (int i = Math.min(threads, pieces - 1); i > 0 && executor != null; i--) {
      try {
        executor.execute(sharing::workOn);
      } catch (RejectedExecutionException | OutOfMemoryError e) {
        // The pool is busy, closed, or can start no more threads.
        break;
      }
    }
    sharing.workOn();
    sharing.await();
  }

  /** Lets the threads end. Running gathers are finished by their own threads. */
  @Override
  public void close() {
    if (executor != null) {
      executor.shutdown();
    }
  }

  /** The pieces of one gather, and how many each thread has done. */
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

    /** Takes pieces until there are none left. */
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

    /**
     * Waits for the last piece. A caller that returned earlier would take back a buffer that others
     * still write to.
     */
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
