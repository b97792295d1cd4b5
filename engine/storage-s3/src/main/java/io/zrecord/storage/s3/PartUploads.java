package io.zrecord.storage.s3;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.CompletedPart;

/**
 * The parts of one object, of which at most 4 are uploaded at a time, in the background. Their
 * buffers are used again. After a failure only {@link #abort} may be called. Belongs to one thread.
 */
final class PartUploads {
  private static final int AT_A_TIME = 4;
  private static final ExecutorService THREADS = DaemonThreads.named("zrecord-s3-write");

  @SuppressWarnings("ArrayRecordComponent") // Never compared
  private record Running(byte[] buffer, Future<CompletedPart> part) {}

  private final S3Writes writes;
  private final String upload;
  private final Deque<Running> running = new ArrayDeque<>(AT_A_TIME);
  private final List<CompletedPart> done = new ArrayList<>();

  /** Starts an upload. */
  PartUploads(S3Writes writes) {
    this.writes = writes;
    upload = writes.start();
  }

  /**
   * Uploads a part. Waits for the oldest one if there are too many.
   *
   * @param buffer with the part, which now belongs to this object
   * @return another buffer of the same length
   */
  byte[] add(byte[] buffer, int lengthBytes) {
    byte[] other = running.size() < AT_A_TIME ? new byte[buffer.length] : awaitOldest();
    int number = done.size() + running.size() + 1;
    running.add(new Running(
        buffer, THREADS.submit(() -> writes.part(upload, number, buffer, lengthBytes))));
    return other;
  }

  /** Waits for all parts, and makes the object of them. */
  void complete() {
    while (!running.isEmpty()) {
      awaitOldest();
    }
    writes.complete(upload, done);
  }

  /**
   * Gives the upload up, once no part is on its way: a part that came later would stay, and cost
   * space.
   */
  void abort() {
    boolean isInterrupted = false;
    while (!running.isEmpty()) {
      try {
        running.element().part().get();
        running.remove();
      } catch (ExecutionException e) {
        running.remove();
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
    writes.abort(upload);
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private byte[] awaitOldest() {
    Running oldest = running.element();
    try {
      done.add(oldest.part().get());
      running.remove();
      return oldest.buffer();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw S3Errors.interrupted("write to", writes.path(), e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SdkException cause) {
        throw S3Errors.of("write to", writes.path(), cause);
      }
      throw new IllegalStateException("Writing to " + writes.path() + " failed", e.getCause());
    }
  }
}
