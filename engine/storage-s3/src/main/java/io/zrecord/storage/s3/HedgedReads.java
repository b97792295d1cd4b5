package io.zrecord.storage.s3;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Asks a second time if the answer to a small read is late, and takes whichever answer comes first.
 * Late is what lasts longer than 95 % of the recent reads, and than a lower bound. At most one read
 * of 20 is asked twice, so that a server that is slow as a whole gets little extra work.
 * Thread-safe.
 */
final class HedgedReads {
  private static final int RECENT = 256;
  private static final int READS_OF_A_HEDGE = 20;
  private static final Duration AT_LEAST = Duration.ofSeconds(2);

  private final long atLeastNanos;
  private final ExecutorService threads = DaemonThreads.named("zrecord-s3-read");
  private final long[] recentNanos = new long[RECENT];
  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong hedges = new AtomicLong();

  HedgedReads() {
    this(AT_LEAST);
  }

  HedgedReads(Duration atLeast) {
    atLeastNanos = atLeast.toNanos();
  }

  /**
   * Returns the first answer of a read, which may run twice at a time. The other run is
   * interrupted. A read that fails before it is late fails as a whole; after that, both must fail.
   *
   * @throws ExecutionException with what the read threw
   * @throws InterruptedException if this thread is interrupted, after both runs were
   */
  <T> T read(Callable<T> read) throws ExecutionException, InterruptedException {
    CompletionService<T> answers = new ExecutorCompletionService<>(threads);
    List<Future<T>> running = new ArrayList<>(2);
    long startNanos = System.nanoTime();
    try {
      running.add(answers.submit(read));
      Future<T> first = awaitLate(answers);
      if (first == null) {
        if (mayHedge()) {
          running.add(answers.submit(read));
        }
        first = answers.take();
      }
      T answer = running.size() == 2 ? anyOf(first, answers) : first.get();
      remember(System.nanoTime() - startNanos);
      return answer;
    } finally {
      running.forEach(run -> run.cancel(true));
    }
  }

  private static <T> T anyOf(Future<T> first, CompletionService<T> answers)
      throws ExecutionException, InterruptedException {
    try {
      return first.get();
    } catch (ExecutionException e) {
      return answers.take().get();
    }
  }

  /** Waits until a read is late. Returns null then. */
  private <T> @Nullable Future<T> awaitLate(CompletionService<T> answers)
      throws InterruptedException {
    Future<T> answer = answers.poll(atLeastNanos, TimeUnit.NANOSECONDS);
    if (answer != null) {
      return answer;
    }
    long moreNanos = usualNanos() - atLeastNanos;
    return moreNanos > 0 ? answers.poll(moreNanos, TimeUnit.NANOSECONDS) : null;
  }

  private boolean mayHedge() {
    if (hedges.incrementAndGet() * READS_OF_A_HEDGE <= reads.get() + READS_OF_A_HEDGE) {
      return true;
    }
    hedges.decrementAndGet();
    return false;
  }

  private void remember(long nanos) {
    int place = (int) (reads.getAndIncrement() % RECENT);
    synchronized (recentNanos) {
      recentNanos[place] = nanos;
    }
  }

  /** Returns how long 95 % of the recent reads last at most. */
  long usualNanos() {
    int count = (int) Math.min(reads.get(), RECENT);
    long[] sorted;
    synchronized (recentNanos) {
      sorted = Arrays.copyOf(recentNanos, count);
    }
    Arrays.sort(sorted);
    return count == 0 ? 0 : sorted[(int) Math.ceil(count * 0.95) - 1];
  }

  /** Returns how often a read was asked twice. */
  long hedges() {
    return hedges.get();
  }
}
