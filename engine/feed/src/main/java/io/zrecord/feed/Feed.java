package io.zrecord.feed;

import io.zrecord.RecordDataset;
import io.zrecord.errors.BatchTimeoutException;
import io.zrecord.internal.io.Closing;
import io.zrecord.sampler.Sampler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers batches of datasets in the order of samplers. Threads of the feed load batches ahead,
 * into buffers that are used again.
 *
 * <pre>{@code
 * FeedGroup group = FeedGroup.of(dataset)
 *     .fields("image", "label")
 *     .sampler(Samplers.shuffle(dataset.length(), seed), seed);
 * try (Feed feed = Feed.of(group).stopBeforeEpoch(10).start()) {
 *   for (FeedBatch batch : feed) {
 *     try (batch) {
 *       train(batch.data("image"), batch.data("label"));
 *       checkpoint.save(batch.next().toJson());
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>The content of a batch depends on the groups only, not on threads, depth or timing. At most
 * {@code depth} batches are alive, including those that the consumer holds. Each loader thread
 * takes a batch through all stages (sample, read, decode, transform, collate, place), so that its
 * bytes stay in the caches of one core. A feed has one consumer thread. Any thread may call
 * {@link #interrupt}, {@link #statistics} and {@link #lastCompleted}.
 */
public final class Feed implements AutoCloseable, Iterable<FeedBatch> {
  private static final Logger LOG = LoggerFactory.getLogger(Feed.class);
  private static final long CLOSE_MILLIS = 10_000;

  private final int depth;
  private final Duration timeout;
  private final boolean hasBatchesAhead;
  private final Consumer<BadBatch> onBadBatch;
  private final Cursor first;
  private final long batchesLeftAtFirst;
  private final FeedPlan plan;
  private final BatchSchedule schedule;
  private final Handover handover;
  private final Watermark delivered;
  private final Watermark completed;
  private final HeldBatches held = new HeldBatches();
  private final List<ReadAhead> ahead = new ArrayList<>();
  private final Set<RecordDataset> datasets = new HashSet<>();
  private final Transfers transfersBefore;
  private final List<Loader> loaders = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final List<AutoCloseable> publicity = new ArrayList<>();
  private @Nullable Throwable failure;
  private boolean isClosed;

  Feed(FeedBuilder settings, FeedPlan plan, Cursor start, Set<Long> deliveredBefore) {
    this.depth = settings.depth();
    this.timeout = settings.timeout();
    this.hasBatchesAhead =
        settings.order() == Handover.Order.AS_COMPLETED || !deliveredBefore.isEmpty();
    this.onBadBatch = settings.onBadBatch();
    this.plan = plan;
    this.first = plan.settled(start);
    this.delivered = new Watermark(plan, start, deliveredBefore);
    this.completed = new Watermark(plan, start, deliveredBefore);
    this.batchesLeftAtFirst = delivered.batchesLeft();
    this.schedule = new BatchSchedule(plan, start, deliveredBefore);
    List<Slot> slots = new ArrayList<>();
    for (int i = 0; i < settings.depth(); i++) {
      slots.add(new Slot(plan, settings.memory()));
    }
    this.handover = new Handover(
        slots, settings.loaderThreads(), settings.order(), settings.maxBytes(), deliveredBefore);
    plan.groups().forEach(group -> {
      ahead.add(new ReadAhead(group));
      datasets.add(group.dataset());
    });
    this.transfersBefore = Transfers.of(datasets);
    LoaderSettings shared = new LoaderSettings(
        plan, ahead, settings.policy(), settings.onLoaderStart(), settings.sinks(), this::release);
    for (int i = 0; i < settings.loaderThreads(); i++) {
      Loader loader = new Loader(shared, handover, schedule);
      loaders.add(loader);
      threads.add(newThread(loader, "zrecord-feed-" + i, settings.loaderPriority()));
    }
    try {
      start(settings);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void start(FeedBuilder settings) {
    if (settings.statisticsName() != null) {
      publicity.add(new FeedBean(settings.statisticsName(), this::statistics));
    }
    if (!settings.shutdownGrace().isZero()) {
      publicity.add(
          ShutdownStop.of(this, this::interrupt, this::lastCompleted, settings.shutdownGrace()));
    }
    threads.forEach(Thread::start);
  }

  @SuppressWarnings(
      "ThreadPriorityCheck") // The user asks for it, to keep the trainer's threads first.
  private static Thread newThread(Loader loader, String name, int priority) {
    Thread thread = new Thread(loader, name);
    thread.setDaemon(true);
    thread.setPriority(priority);
    return thread;
  }

  /** Sets up a feed of one group or of several. */
  public static FeedBuilder of(FeedGroup... groups) {
    return new FeedBuilder(List.of(groups));
  }

  /**
   * Returns the next batch; null after the last one. The caller closes the batch.
   *
   * @throws BatchTimeoutException if the batch did not come in time; another call waits again
   * @throws io.zrecord.errors.ZRecordException what went wrong in loading the batch; the feed has
   *     then ended
   * @throws IllegalStateException if the feed is closed, the waiting thread is interrupted, or a
   *     transform, sink or hook failed
   */
  public @Nullable FeedBatch next() {
    long start = System.nanoTime();
    while (true) {
      Slot slot = takeLoaded(timeout.toNanos() - (System.nanoTime() - start));
      if (slot == null) {
        return null;
      }
      if (slot.failure() != null) {
        interrupt();
        failure = slot.failure();
        throw rethrown(slot.failure());
      }
      delivered.complete(slot.number(), slot.after());
      if (!slot.badRecords().isEmpty()) {
        onBadBatch.accept(new BadBatch(slot.badRecords(), slot.isDropped()));
      }
      FeedBatch batch = slot.batch();
      if (batch != null && !slot.isDropped()) {
        if (hasBatchesAhead) {
          batch.continueAt(delivered.state(), delivered.batchesLeft());
        }
        batch.handOut();
        held.take(batch);
        return batch;
      }
      completed.complete(slot.number(), slot.after());
      handover.giveBack(slot);
    }
  }

  /** Iterates over the batches that {@link #next} gives. The loop closes each of them. */
  @Override
  public Iterator<FeedBatch> iterator() {
    return new FeedIterator(this::next, this);
  }

  private @Nullable Slot takeLoaded(long timeoutNanos) {
    if (isClosed) {
      throw new IllegalStateException("The feed of " + this + " is closed; start another one");
    }
    if (failure != null) {
      throw rethrown(failure);
    }
    try {
      return handover.takeLoaded(timeoutNanos);
    } catch (Handover.Timeout e) {
      throw new BatchTimeoutException(toString(), describeStall());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while waiting for a batch of " + this, e);
    }
  }

  private static RuntimeException rethrown(Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    if (cause instanceof RuntimeException exception) {
      throw exception;
    }
    return new IllegalStateException("Cannot load a batch: " + cause, cause);
  }

  private void release(FeedBatch batch, Slot slot) {
    held.release(batch);
    completed.complete(slot.number(), slot.after());
    handover.giveBack(slot);
  }

  private String describeStall() {
    StringBuilder text = new StringBuilder("No batch of ")
        .append(this)
        .append(" came within ")
        .append(timeout.toMillis())
        .append(" ms");
    for (int i = 0; i < loaders.size(); i++) {
      text.append("; loader ").append(i).append(' ').append(loaders.get(i).describe());
    }
    text.append(". The consumer holds ")
        .append(handover.heldCount())
        .append(" of ")
        .append(depth)
        .append(" batches; close them before asking for more than depth - 1 others, or raise depth"
            + " or timeout");
    return handover.heldCount() == 0
        ? text.toString()
        : text.append(". ").append(held.describe()).toString();
  }

  /**
   * Returns the batches of an epoch of all groups; {@link Sampler#ENDLESS} if an epoch does not
   * end.
   */
  public long batchesPerEpoch() {
    return plan.batchesPerEpoch();
  }

  /** Returns the batches of a pass of the validation; 0 without a validation. */
  public long batchesPerValidation() {
    return plan.batchesPerValidation();
  }

  /** Returns the epoch of the first batch of this feed, from 0. */
  public long firstEpoch() {
    return first.epoch();
  }

  /**
   * Returns the number of the first batch of this feed, counted from the very beginning of the
   * training; batches that overtook it before the feed was resumed have higher numbers.
   */
  public long firstBatch() {
    return first.batch();
  }

  /**
   * Returns the number of the last batch of this feed; empty if the feed does not end. It is less
   * than {@link #firstBatch} in a feed without batches.
   */
  public OptionalLong lastBatch() {
    long end = plan.endBatch(first);
    return end == Sampler.ENDLESS ? OptionalLong.empty() : OptionalLong.of(end - 1);
  }

  /**
   * Returns how many batches of {@link #firstEpoch} this feed has; {@link Sampler#ENDLESS} if the
   * epoch does not end.
   */
  public long batchesOfFirstEpoch() {
    return batchesLeftAtFirst;
  }

  /** Returns what the feed did so far. */
  public FeedStatistics statistics() {
    return handover.statistics(Transfers.of(datasets).since(transfersBefore));
  }

  /**
   * Returns the state from which a feed delivers all that the consumer has not closed yet in this
   * feed.
   */
  public FeedState lastCompleted() {
    return completed.state();
  }

  /** Ends the flow: batches that are begun are still delivered, then {@link #next} returns null. */
  public void interrupt() {
    schedule.stop();
    handover.stop();
  }

  /**
   * Ends the loaders. Batches that the consumer still holds stay readable until they are closed.
   */
  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    schedule.stop();
    handover.close();
    threads.forEach(Thread::interrupt);
    if (!joinAll()) {
      LOG.warn(
          "Loaders of {} still run {} ms after the feed was closed; a transform or sink does not end",
          this,
          CLOSE_MILLIS);
    }
    ahead.forEach(ReadAhead::close);
    Closing.all(publicity);
  }

  /** Waits for the loaders even if interrupted: memory may be freed after a close. */
  private boolean joinAll() {
    long deadline = System.nanoTime() + CLOSE_MILLIS * 1_000_000;
    boolean interrupted = false;
    for (Thread thread : threads) {
      long leftMillis = (deadline - System.nanoTime()) / 1_000_000;
      while (thread.isAlive() && leftMillis > 0) {
        try {
          thread.join(leftMillis);
        } catch (InterruptedException e) {
          interrupted = true;
        }
        leftMillis = (deadline - System.nanoTime()) / 1_000_000;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return threads.stream().noneMatch(Thread::isAlive);
  }

  @Override
  public String toString() {
    return plan.groups().stream()
        .limit(plan.trainingCount())
        .map(group -> group.dataset().toString())
        .toList()
        .toString();
  }
}
