package io.zrecord.feed;

import io.zrecord.RecordDataset;
import io.zrecord.errors.BatchTimeoutException;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.SamplerState;
import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Batches of a dataset in the order of a sampler, loaded ahead by threads of its own into buffers that are used again.
 *
 * <pre>{@code
 * try (Feed feed = Feed.of(dataset).fields("image", "label").sampler(Samplers.shuffle(dataset.length(), seed), seed).batchSize(256).start()) {
 *   for (FeedBatch batch = feed.next(); batch != null; batch = feed.next()) {
 *     try (batch) {
 *       train(batch.data("image"), batch.data("label"));
 *       checkpoint.save(batch.next().toJson());
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>What a batch has depends on the sampler and the batch size only, not on threads, depth or timing. At most {@code depth} batches are
 * alive, those that the consumer holds included. One consumer thread; {@link #interrupt} and {@link #statistics} may be called by any.
 */
public final class Feed implements AutoCloseable {
  private static final long CLOSE_MILLIS = 10_000;

  private final Sampler sampler;
  private final SamplerState start;
  private final FeedBuilder settings;
  private final Schedule schedule;
  private final Handover handover;
  private final List<Loader> loaders = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final String location;
  private @Nullable RuntimeException failure;
  private boolean isClosed;
  private volatile FeedStatistics delivered = new FeedStatistics(0, 0, 0, 0, 0, 0, 0);

  Feed(FeedBuilder settings, RecordDataset dataset, Sampler sampler, SamplerState start) {
    this.settings = settings;
    this.sampler = sampler;
    this.start = start;
    this.location = dataset.toString();
    this.schedule = new Schedule(
        sampler,
        settings.batchSize(),
        settings.keepsRemainder(),
        start.epoch(),
        start.position(),
        settings.endEpoch());
    List<FieldSpec> fields = settings.fieldNames().stream()
        .map(name -> dataset.schema().fields().get(dataset.schema().ordinal(name)))
        .toList();
    List<Slot> slots = new ArrayList<>();
    for (int i = 0; i < settings.depth(); i++) {
      slots.add(new Slot(fields, settings.batchSize()));
    }
    this.handover = new Handover(slots, settings.loaderThreads());
    for (int i = 0; i < settings.loaderThreads(); i++) {
      Loader loader = new Loader(
          handover, schedule, sampler, dataset, settings.fieldNames(), settings.onLoaderStart());
      loaders.add(loader);
      Thread thread = new Thread(loader, "zrecord-feed-" + i);
      thread.setDaemon(true);
      threads.add(thread);
    }
    threads.forEach(Thread::start);
  }

  /** A feed over a dataset, to be set up. */
  public static FeedBuilder of(RecordDataset dataset) {
    return new FeedBuilder(dataset);
  }

  /**
   * The next batch; null after the last one. The caller closes it.
   *
   * @throws BatchTimeoutException if it did not come in time; asking again waits again
   * @throws io.zrecord.errors.ZRecordException what went wrong in loading it; the feed has ended then
   * @throws IllegalStateException if the feed is closed, or the waiting thread is interrupted
   */
  public @Nullable FeedBatch next() {
    if (isClosed) {
      throw new IllegalStateException("The feed of " + location + " is closed; start another one");
    }
    if (failure != null) {
      throw failure;
    }
    boolean wasReady = handover.isReady();
    long began = System.nanoTime();
    Slot slot;
    try {
      slot = handover.takeLoaded(settings.timeout().toNanos());
    } catch (Handover.Timeout e) {
      throw new BatchTimeoutException(location, describeStall());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while waiting for a batch of " + location, e);
    }
    if (slot == null) {
      return null;
    }
    if (slot.failure() != null) {
      interrupt();
      failure = asRuntime(slot.failure());
      throw failure;
    }
    count(slot, wasReady, System.nanoTime() - began);
    return new FeedBatch(location, slot, stateAfter(slot.place()), handover::giveBack);
  }

  private static RuntimeException asRuntime(Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    return (RuntimeException) cause;
  }

  private void count(Slot slot, boolean wasReady, long idleNanos) {
    FeedStatistics before = delivered;
    delivered = new FeedStatistics(
        before.batches() + 1,
        before.records() + slot.place().count(),
        before.bytes() + slot.lengthBytes(),
        before.readyBatches() + (wasReady ? 1 : 0),
        before.idleNanos() + idleNanos,
        0,
        0);
  }

  /** The state behind a batch: positions that only a dropped remainder has are skipped with it. */
  private SamplerState stateAfter(Slot.Place place) {
    long position = place.position() + place.count();
    long left = sampler.length() - position;
    boolean ends = left == 0 || (left < settings.batchSize() && !settings.keepsRemainder());
    return ends
        ? new SamplerState(start.datasetVersion(), start.seed(), place.epoch() + 1, 0)
        : new SamplerState(start.datasetVersion(), start.seed(), place.epoch(), position);
  }

  private String describeStall() {
    StringBuilder text = new StringBuilder("No batch of ")
        .append(location)
        .append(" came within ")
        .append(settings.timeout().toMillis())
        .append(" ms. ")
        .append(handover.outsideCount())
        .append(" of ")
        .append(settings.depth())
        .append(" batches are being loaded or were not closed by the consumer");
    for (int i = 0; i < loaders.size(); i++) {
      text.append("; loader ").append(i).append(' ').append(loaders.get(i).describe());
    }
    return text.append(
            ". Close batches before asking for more than depth - 1 others, or raise depth or timeout")
        .toString();
  }

  /** Batches of an epoch; {@link Sampler#ENDLESS} if it does not end. */
  public long batchesPerEpoch() {
    return Schedule.batchesPerEpoch(sampler, settings.batchSize(), settings.keepsRemainder());
  }

  /** What it did so far. */
  public FeedStatistics statistics() {
    FeedStatistics now = delivered;
    long[] nanos = handover.loadAndWaitNanos();
    return new FeedStatistics(
        now.batches(),
        now.records(),
        now.bytes(),
        now.readyBatches(),
        now.idleNanos(),
        nanos[0],
        nanos[1]);
  }

  /** Ends the flow: batches that are begun are still delivered, then {@link #next} returns null. */
  public void interrupt() {
    schedule.stop();
  }

  /** Ends the loaders. Batches that the consumer still holds stay readable until they are closed. */
  @Override
  public void close() {
    isClosed = true;
    schedule.stop();
    threads.forEach(Thread::interrupt);
    long deadline = System.currentTimeMillis() + CLOSE_MILLIS;
    boolean interrupted = false;
    for (Thread thread : threads) {
      long left = deadline - System.currentTimeMillis();
      try {
        if (left > 0 && !interrupted) {
          thread.join(left);
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
