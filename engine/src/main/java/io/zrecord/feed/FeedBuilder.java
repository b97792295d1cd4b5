package io.zrecord.feed;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.SamplerState;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.FieldSpec;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a {@link Feed} is set up; what is not said has a default. */
public final class FeedBuilder {
  private static final int MAX_BATCH = 1 << 24;
  private static final int MAX_DEPTH = 1024;
  private static final int MAX_THREADS = 256;
  private static final long DEFAULT_SEED = 42;

  private final RecordDataset dataset;
  private List<String> fields;
  private int batchSize = 256;
  private int depth = 4;
  private int loaderThreads = Math.min(2, Runtime.getRuntime().availableProcessors());
  private boolean keepsRemainder = true;
  private long endEpoch = 1;
  private Duration timeout = Duration.ofMinutes(1);
  private Runnable onLoaderStart = () -> {};
  private @Nullable Sampler sampler;
  private long seed = DEFAULT_SEED;
  private @Nullable SamplerState state;

  FeedBuilder(RecordDataset dataset) {
    this.dataset = dataset;
    this.fields = dataset.schema().fields().stream().map(FieldSpec::name).toList();
  }

  /**
   * The fields of the batches; default all.
   *
   * @throws IllegalArgumentException if there is no such field
   */
  public FeedBuilder fields(String... names) {
    for (String name : names) {
      dataset.schema().ordinal(name);
    }
    fields = List.of(names);
    return this;
  }

  /** Records of a batch, 1 to 2²⁴; default 256. */
  public FeedBuilder batchSize(int records) {
    batchSize = within("batchSize", records, 1, MAX_BATCH);
    return this;
  }

  /** Batches alive at a time, those that the consumer holds included, 2 to 1,024; default 4. Memory is that many of the largest batch. */
  public FeedBuilder depth(int batches) {
    depth = within("depth", batches, 2, MAX_DEPTH);
    return this;
  }

  /** Threads that load, 1 to 256; default 2. What is delivered does not depend on it. */
  public FeedBuilder loaderThreads(int threads) {
    loaderThreads = within("loaderThreads", threads, 1, MAX_THREADS);
    return this;
  }

  /**
   * The order; default a shuffle of the whole dataset with seed 42.
   *
   * @param samplerSeed the seed that it was made with, which is part of the state
   * @throws IllegalArgumentException if it has indices that the dataset has not
   */
  public FeedBuilder sampler(Sampler order, long samplerSeed) {
    if (order.bound() > dataset.length()) {
      throw new IllegalArgumentException("Cannot feed " + dataset + " by " + order
          + ": it gives indices up to " + (order.bound() - 1) + ", and there are "
          + dataset.length() + " records; make it for that length");
    }
    sampler = order;
    seed = samplerSeed;
    return this;
  }

  /** Whether the last records of an epoch that do not fill a batch are delivered; default true. */
  public FeedBuilder keepRemainder(boolean keeps) {
    keepsRemainder = keeps;
    return this;
  }

  /** The epoch before which the feed ends, ≥ 1; default 1: one epoch. {@link Long#MAX_VALUE}: never. */
  public FeedBuilder stopBeforeEpoch(long epoch) {
    if (epoch < 1) {
      throw new IllegalArgumentException(
          "stopBeforeEpoch is " + epoch + "; it must be 1 or more, for epochs count from 0");
    }
    endEpoch = epoch;
    return this;
  }

  /**
   * Goes on from where a batch said that the next one begins. The sampler must be the one that was stopped; threads, depth and batch
   * size may be others.
   */
  public FeedBuilder resume(SamplerState from) {
    state = from;
    return this;
  }

  /** How long {@link Feed#next} waits; default a minute. */
  public FeedBuilder timeout(Duration most) {
    if (most.isZero() || most.isNegative()) {
      throw new IllegalArgumentException("timeout is " + most + "; it must be more than nothing");
    }
    timeout = most;
    return this;
  }

  /** Run once by each loader thread before it loads. */
  public FeedBuilder onLoaderStart(Runnable hook) {
    onLoaderStart = hook;
    return this;
  }

  /**
   * Starts loading.
   *
   * @throws IllegalArgumentException if the state to resume is of another version or seed
   */
  public Feed start() {
    Sampler order = sampler != null ? sampler : Samplers.shuffle(dataset.length(), seed);
    SamplerState from = state != null
        ? state.requireFits(dataset.version(), seed)
        : SamplerState.start(dataset.version(), seed);
    if (from.position() > order.length()) {
      throw new IllegalArgumentException("Cannot resume at position " + from.position() + " of "
          + order + ", which has " + order.length() + "; resume with the sampler that was stopped");
    }
    return new Feed(this, dataset, order, from);
  }

  List<String> fieldNames() {
    return fields;
  }

  int batchSize() {
    return batchSize;
  }

  int depth() {
    return depth;
  }

  int loaderThreads() {
    return loaderThreads;
  }

  boolean keepsRemainder() {
    return keepsRemainder;
  }

  long endEpoch() {
    return endEpoch;
  }

  Duration timeout() {
    return timeout;
  }

  Runnable onLoaderStart() {
    return onLoaderStart;
  }

  private static int within(String name, int value, int lowest, int highest) {
    if (value < lowest || value > highest) {
      throw new IllegalArgumentException(
          name + " is " + value + "; it must be from " + lowest + " to " + highest);
    }
    return value;
  }
}
