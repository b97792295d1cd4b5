package io.zrecord.internal.store.rewrite;

import io.zrecord.internal.io.MutableFile;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Forces a file now and then in a thread of its own, so that the medium takes written bytes while
 * more are written. The caller forces the last bytes. Files that stay small need no thread. Belongs
 * to one thread.
 */
final class BackgroundForce implements AutoCloseable {
  private static final long STEP_BYTES = 32L << 20;

  private @Nullable ExecutorService executor;
  private @Nullable Future<?> running;
  private long unforcedBytes;

  /** Notes bytes written to a file, which stays open until {@link #await} has returned. */
  void written(MutableFile file, long bytes) {
    unforcedBytes += bytes;
    if (unforcedBytes >= STEP_BYTES) {
      await();
      ExecutorService thread = executor;
      if (thread == null) {
        thread = Executors.newSingleThreadExecutor(work -> {
          Thread forcing = new Thread(work, "zrecord-force");
          forcing.setDaemon(true);
          return forcing;
        });
        executor = thread;
      }
      running = thread.submit(file::force);
    }
  }

  /** Waits for the running force, and throws its failure. */
  void await() {
    Future<?> forcing = running;
    running = null;
    unforcedBytes = 0;
    boolean interrupted = false;
    while (forcing != null) {
      try {
        forcing.get();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RuntimeException cause) {
          throw cause;
        }
        throw new IllegalStateException(e.getCause());
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the running force, and ignores its failure. */
  @Override
  public void close() {
    try {
      await();
    } catch (RuntimeException e) {
      // A caller that closes early has another failure to report.
    } finally {
      if (executor != null) {
        executor.shutdown();
      }
    }
  }
}
