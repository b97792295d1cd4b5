package io.zrecord.storage.hadoop;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Runs what an interrupt must not end halfway in a thread of its own, which nobody interrupts.
 * Stateless.
 */
final class Uninterrupted {
  private Uninterrupted() {}

  /** Returns the result of a call. An interrupt of the caller is kept until the call ended. */
  static <T> T call(Callable<T> call) throws IOException {
    FutureTask<T> task = new FutureTask<>(call);
    Thread thread = new Thread(task, "zrecord-publish");
    thread.setDaemon(true);
    thread.start();
    boolean isInterrupted = false;
    try {
      while (true) {
        try {
          return task.get();
        } catch (InterruptedException e) {
          isInterrupted = true;
        }
      }
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      throw failure(cause == null ? e : cause);
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static IOException failure(Throwable cause) {
    if (cause instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (cause instanceof Error error) {
      throw error;
    }
    return cause instanceof IOException known ? known : new IOException(cause);
  }
}
