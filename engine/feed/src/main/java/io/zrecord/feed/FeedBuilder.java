package io.zrecord.feed;

import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sets up a {@link Feed}; every setting has a default. Belongs to one thread. */
public final class FeedBuilder {
  private static final int MAX_DEPTH = 1024;
  private static final int MAX_THREADS = 256;
  private static final long MAX_START = 1L << 40;

  private final List<FeedGroup> groups;
  private FeedPlan.Mixture mixture = FeedPlan.Mixture.SEQUENTIAL;
  private @Nullable Validation validation;
  private Ranks ranks = Ranks.ALONE;
  private int depth = 4;
  private long maxBytes = Long.MAX_VALUE;
  private int loaderThreads = Math.min(2, Runtime.getRuntime().availableProcessors());
  private int loaderPriority = Thread.NORM_PRIORITY;
  private Handover.Order order = Handover.Order.PLANNED;
  private BadRecordPolicy policy = BadRecordPolicy.FAIL;
  private Consumer<BadBatch> onBadBatch = batch -> {};
  private long startEpoch;
  private long startBatch;
  private long startPosition;
  private @Nullable FeedState state;
  private long endEpoch = 1;
  private long endBatch = Long.MAX_VALUE;
  private Duration timeout = Duration.ofMinutes(1);
  private Runnable onLoaderStart = () -> {};
  private @Nullable Supplier<? extends BatchSink> sinks;
  private BatchMemory memory = ByteBuffer::allocateDirect;
  private @Nullable String statisticsName;
  private Duration shutdownGrace = Duration.ZERO;

  FeedBuilder(List<FeedGroup> groups) {
    if (groups.isEmpty()) {
      throw new IllegalArgumentException("A feed needs at least one group");
    }
    this.groups = List.copyOf(groups);
  }

  /**
   * Mixes the groups: each batch is from the group of which the smallest part is consumed. Without
   * this call, one group follows the other. An epoch is one pass over all groups.
   */
  public FeedBuilder interleave() {
    mixture = FeedPlan.Mixture.LEAST_USED;
    return this;
  }

  /** Delivers batches of other data now and then, in the same stream; default none. */
  public FeedBuilder validate(Validation newValidation) {
    validation = newValidation;
    return this;
  }

  /**
   * Says which of several processes this is; by default the only one. The processes share the order
   * of each group.
   *
   * @param rank 0 to {@code worldSize - 1}
   * @param remainder what becomes of positions that cannot be shared evenly. With
   *     {@link Remainder#UNEVEN} ranks may differ by a batch at the end of an epoch. With
   *     {@link Remainder#PAD} positions of repeated records continue after the length
   */
  public FeedBuilder rank(long rank, long worldSize, Remainder remainder) {
    if (worldSize < 1 || worldSize > Integer.MAX_VALUE || rank < 0 || rank >= worldSize) {
      throw new IllegalArgumentException("Rank " + rank + " of " + worldSize
          + " is not possible: ranks count from 0, and there is at least one");
    }
    ranks = new Ranks(rank, worldSize, remainder);
    return this;
  }

  /**
   * Sets the number of batches alive at a time, including those that the consumer holds: 2 to
   * 1,024; default 4. The feed takes memory for this many of the largest batch.
   */
  public FeedBuilder depth(int batches) {
    depth = Bounds.within("depth", batches, 2, MAX_DEPTH);
    return this;
  }

  /**
   * Limits the bytes in batches alive at a time, 1 or more; default no limit. Loaders wait with a
   * batch whose stored values would exceed the limit, except with the batch that comes next. What
   * transforms and padding add counts as soon as it is there. Buffers that are kept for later
   * batches may take this many bytes again.
   */
  public FeedBuilder maxBytes(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("maxBytes is " + bytes + "; it must be 1 or more");
    }
    maxBytes = bytes;
    return this;
  }

  /**
   * Sets the number of loader threads, 1 to 256; default 2, or 1 on a machine with one processor.
   * Content and order of batches do not depend on this number.
   */
  public FeedBuilder loaderThreads(int threads) {
    loaderThreads = Bounds.within("loaderThreads", threads, 1, MAX_THREADS);
    return this;
  }

  /**
   * Sets the priority of the loader threads, 1 to 10 as for {@link Thread#setPriority}; default 5.
   * Many systems ignore it.
   */
  public FeedBuilder loaderPriority(int priority) {
    loaderPriority =
        Bounds.within("loaderPriority", priority, Thread.MIN_PRIORITY, Thread.MAX_PRIORITY);
    return this;
  }

  /**
   * Delivers whichever batch is ready first; without this call, in the order of the plan. States
   * are just as exact, and a little longer.
   */
  public FeedBuilder asCompleted() {
    order = Handover.Order.AS_COMPLETED;
    return this;
  }

  /**
   * Says what to do with records that cannot be read or transformed; default
   * {@link BadRecordPolicy#FAIL}.
   */
  public FeedBuilder badRecords(BadRecordPolicy newPolicy) {
    policy = newPolicy;
    return this;
  }

  /**
   * Is told of the bad records of each batch, also of those that are left out, before the next
   * batch is delivered. {@link Feed#next} calls it, on the thread of the consumer, in the order of
   * delivery; what it throws ends that call. Without this call, only the log names bad records.
   */
  public FeedBuilder onBadBatch(Consumer<BadBatch> listener) {
    onBadBatch = listener;
    return this;
  }

  /**
   * Begins with a batch of an epoch, both from 0; default the first batch. A batch number beyond
   * the epoch means a batch of a later epoch.
   */
  public FeedBuilder startAt(long epoch, long batch) {
    if (epoch < 0 || batch < 0 || epoch > MAX_START || batch > MAX_START) {
      throw new IllegalArgumentException("Cannot start at batch " + batch + " of epoch " + epoch
          + ": both count from 0, to at most " + MAX_START);
    }
    startEpoch = epoch;
    startBatch = batch;
    startPosition = 0;
    return this;
  }

  /**
   * Begins at a position of an epoch in the order of all ranks together, both from 0; default the
   * first position. Only for a feed of one group.
   *
   * @param position 0 to the length of the order
   */
  public FeedBuilder startAtPosition(long epoch, long position) {
    startAt(epoch, 0);
    if (position < 0) {
      throw new IllegalArgumentException(
          "Cannot start at position " + position + ": positions count from 0");
    }
    startPosition = position;
    return this;
  }

  /**
   * Resumes from a state of {@link FeedBatch#next} or {@link Feed#lastCompleted}. Groups, versions
   * and seeds must be those of the feed that was stopped; threads, depth, number of ranks and batch
   * sizes may differ.
   */
  public FeedBuilder resume(FeedState from) {
    state = from;
    return this;
  }

  /**
   * Ends the feed before an epoch, ≥ 1; {@link Long#MAX_VALUE} for never. The default is 1, one
   * epoch in all: a feed that is resumed or started after that epoch then delivers nothing.
   */
  public FeedBuilder stopBeforeEpoch(long epoch) {
    endEpoch = atLeastOne("stopBeforeEpoch", epoch);
    return this;
  }

  /**
   * Ends the feed before a batch of the training, ≥ 1, counted from the very beginning across all
   * epochs; default never.
   */
  public FeedBuilder stopBeforeBatch(long batch) {
    endBatch = atLeastOne("stopBeforeBatch", batch);
    return this;
  }

  private static long atLeastOne(String name, long value) {
    if (value < 1) {
      throw new IllegalArgumentException(
          name + " is " + value + "; it must be 1 or more, for they count from 0");
    }
    return value;
  }

  /** Sets how long {@link Feed#next} waits; default a minute. */
  public FeedBuilder timeout(Duration most) {
    if (most.isZero() || most.isNegative()) {
      throw new IllegalArgumentException("timeout is " + most + "; it must be more than nothing");
    }
    timeout = atMostForever(most);
    return this;
  }

  /** Limits a duration to what fits 63 bits of nanoseconds. */
  private static Duration atMostForever(Duration duration) {
    Duration longest = Duration.ofNanos(Long.MAX_VALUE);
    return duration.compareTo(longest) > 0 ? longest : duration;
  }

  /** Runs a hook in each loader thread, once before it loads. */
  public FeedBuilder onLoaderStart(Runnable hook) {
    onLoaderStart = hook;
    return this;
  }

  /**
   * Takes every batch somewhere before it is delivered. Each loader thread calls the factory once.
   */
  public FeedBuilder sink(Supplier<? extends BatchSink> factory) {
    sinks = factory;
    return this;
  }

  /** Sets where batches live; default direct buffers. */
  public FeedBuilder memory(BatchMemory source) {
    memory = source;
    return this;
  }

  /** Shows the statistics over JMX as {@code io.zrecord:type=Feed,name="…"}. */
  public FeedBuilder publishStatistics(String name) {
    statisticsName = name;
    return this;
  }

  /**
   * Ends the flow when the process is asked to end (SIGINT, SIGTERM). Waits this long for the
   * consumer to close the feed, then logs how far the consumer came. By default a feed does nothing
   * at that time.
   */
  public FeedBuilder stopOnShutdown(Duration grace) {
    shutdownGrace = atMostForever(grace);
    return this;
  }

  /**
   * Starts loading.
   *
   * @throws IllegalArgumentException if settings contradict each other, or the state to resume is
   *     that of other groups
   */
  public Feed start() {
    List<GroupPlan.Definition> definitions = new ArrayList<>();
    groups.forEach(group -> definitions.add(group.define()));
    int trainingCount = definitions.size();
    if (validation != null) {
      validation.groups().forEach(group -> definitions.add(group.define()));
    }
    requireConsistent(definitions, trainingCount);
    long[] bases = state == null
        ? startBases(definitions, trainingCount)
        : state.bases(definitions, trainingCount);
    List<GroupPlan> plans = new ArrayList<>();
    for (int i = 0; i < bases.length; i++) {
      plans.add(new GroupPlan(definitions.get(i), ranks, bases[i]));
    }
    FeedPlan plan = new FeedPlan(plans, trainingCount, mixture, validation, endEpoch, endBatch);
    if (state == null) {
      Cursor start = startPosition == 0
          ? plan.startAt(startEpoch, startBatch)
          : plan.startAtPosition(startEpoch, startPosition);
      return new Feed(this, plan, start, Set.of());
    }
    state.requireAheadFits(plan);
    Set<Long> delivered =
        state.ahead() == null ? Set.of() : new HashSet<>(state.ahead().batches());
    return new Feed(this, plan, resumed(plan, state, bases), delivered);
  }

  private long[] startBases(List<GroupPlan.Definition> definitions, int trainingCount) {
    long[] bases = new long[definitions.size()];
    bases[0] = startPosition;
    if (startPosition > 0 && trainingCount > 1) {
      throw new IllegalArgumentException("Cannot start " + trainingCount + " groups at position "
          + startPosition + ": each has positions of its own; say startAt and a batch");
    }
    long length = definitions.get(0).order().length();
    if (startPosition > length) {
      throw new IllegalArgumentException("Cannot start at position " + startPosition
          + ": an epoch of group '" + definitions.get(0).name() + "' has " + length
          + " positions; start at 0 to " + length);
    }
    return bases;
  }

  private static Cursor resumed(FeedPlan plan, FeedState from, long[] bases) {
    Cursor cursor = plan.start();
    cursor.startEpoch(from.epoch());
    cursor.startBatch(from.batch());
    for (int i = 0; i < bases.length; i++) {
      cursor.resume(i, bases[i]);
    }
    if (from.validation() != null) {
      cursor.validate(plan.trainingCount() + from.validation().group());
    }
    return cursor;
  }

  private void requireConsistent(List<GroupPlan.Definition> definitions, int trainingCount) {
    if (state != null && (startEpoch > 0 || startBatch > 0 || startPosition > 0)) {
      throw new IllegalArgumentException(
          "Both startAt and resume were said; say where to begin in one way");
    }
    Set<String> names = new HashSet<>();
    for (int i = 0; i < definitions.size(); i++) {
      GroupPlan.Definition group = definitions.get(i);
      boolean isEndless = group.order().length() == Sampler.ENDLESS;
      if (isEndless && (trainingCount > 1 || i >= trainingCount)) {
        throw new IllegalArgumentException("Group '" + group.name() + "' has the endless order "
            + group.order() + ", which only a training of one group can have; say take(…) of it");
      }
      if (i < trainingCount && !names.add(group.name())) {
        throw new IllegalArgumentException("Two groups of the feed have the name '" + group.name()
            + "'; give each one of its own");
      }
    }
  }

  int depth() {
    return depth;
  }

  long maxBytes() {
    return maxBytes;
  }

  int loaderThreads() {
    return loaderThreads;
  }

  int loaderPriority() {
    return loaderPriority;
  }

  Handover.Order order() {
    return order;
  }

  BadRecordPolicy policy() {
    return policy;
  }

  Consumer<BadBatch> onBadBatch() {
    return onBadBatch;
  }

  Duration timeout() {
    return timeout;
  }

  Runnable onLoaderStart() {
    return onLoaderStart;
  }

  @Nullable
  Supplier<? extends BatchSink> sinks() {
    return sinks;
  }

  BatchMemory memory() {
    return memory;
  }

  @Nullable
  String statisticsName() {
    return statisticsName;
  }

  Duration shutdownGrace() {
    return shutdownGrace;
  }
}
