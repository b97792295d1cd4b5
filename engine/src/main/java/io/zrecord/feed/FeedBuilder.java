package io.zrecord.feed;

import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How a {@link Feed} is set up; what is not said has a default. */
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
      throw new IllegalArgumentException("A feed of no groups: give at least one");
    }
    this.groups = List.copyOf(groups);
  }

  /**
   * Mixes the groups: each batch is from the group of which the smallest part is consumed. Default
   * is one group after the other. An epoch is one pass over all groups.
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
   * Which of several processes this is; default the only one. The order of each group is shared
   * out.
   *
   * @param rank 0 to {@code worldSize - 1}
   * @param remainder what becomes of positions that cannot be shared evenly. With
   *     {@link Remainder#UNEVEN} ranks may differ by a batch at the end of an epoch; with
   *     {@link Remainder#PAD} positions of repeated records go on behind the length
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
   * Batches alive at a time, those that the consumer holds included, 2 to 1,024; default 4. Memory
   * is that many of the largest batch.
   */
  public FeedBuilder depth(int batches) {
    depth = Bounds.within("depth", batches, 2, MAX_DEPTH);
    return this;
  }

  /**
   * Bytes in batches alive at a time, 1 or more; default no bound. Loaders wait with a batch whose
   * stored values would exceed it, but for the one that comes next. What transforms and padding add
   * counts as soon as it is there. Buffers that are kept for later batches may take as much again.
   */
  public FeedBuilder maxBytes(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("maxBytes is " + bytes + "; it must be 1 or more");
    }
    maxBytes = bytes;
    return this;
  }

  /** Threads that load, 1 to 256; default 2. What is delivered does not depend on it. */
  public FeedBuilder loaderThreads(int threads) {
    loaderThreads = Bounds.within("loaderThreads", threads, 1, MAX_THREADS);
    return this;
  }

  /**
   * Priority of these threads, 1 to 10 as of {@link Thread#setPriority}; default 5. Many systems
   * ignore it.
   */
  public FeedBuilder loaderPriority(int priority) {
    loaderPriority =
        Bounds.within("loaderPriority", priority, Thread.MIN_PRIORITY, Thread.MAX_PRIORITY);
    return this;
  }

  /**
   * Delivers whichever batch is ready first; default is the order of the plan. States are exact as
   * well, and a little longer.
   */
  public FeedBuilder asCompleted() {
    order = Handover.Order.AS_COMPLETED;
    return this;
  }

  /**
   * What to do with records that cannot be read or transformed; default
   * {@link BadRecordPolicy#FAIL}.
   */
  public FeedBuilder badRecords(BadRecordPolicy newPolicy) {
    policy = newPolicy;
    return this;
  }

  /**
   * Begins with a batch of an epoch, both from 0; a batch beyond the epoch is one of a later epoch.
   * Default is the first.
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
   * Begins at a position of an epoch in the order of all ranks together, both from 0; a feed of one
   * group only. Default is the first.
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
   * Goes on from where a batch said that the next one begins. Groups, versions and seeds must be
   * those that were stopped; threads, depth, number of ranks and batch sizes may be others.
   */
  public FeedBuilder resume(FeedState from) {
    state = from;
    return this;
  }

  /**
   * The epoch before which the feed ends, ≥ 1; default 1: one epoch in all, so that nothing is left
   * to a feed that is resumed or started behind it. {@link Long#MAX_VALUE}: never.
   */
  public FeedBuilder stopBeforeEpoch(long epoch) {
    endEpoch = atLeastOne("stopBeforeEpoch", epoch);
    return this;
  }

  /**
   * The batch of the training before which the feed ends, ≥ 1, counted from the very beginning,
   * whatever the epoch; default none.
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

  /** How long {@link Feed#next} waits; default a minute. */
  public FeedBuilder timeout(Duration most) {
    if (most.isZero() || most.isNegative()) {
      throw new IllegalArgumentException("timeout is " + most + "; it must be more than nothing");
    }
    timeout = atMostForever(most);
    return this;
  }

  /** Nanoseconds are counted in 63 bits. */
  private static Duration atMostForever(Duration duration) {
    Duration longest = Duration.ofNanos(Long.MAX_VALUE);
    return duration.compareTo(longest) > 0 ? longest : duration;
  }

  /** Run once by each loader thread before it loads. */
  public FeedBuilder onLoaderStart(Runnable hook) {
    onLoaderStart = hook;
    return this;
  }

  /**
   * Takes every batch somewhere before it is delivered; the factory is called once by each loader
   * thread.
   */
  public FeedBuilder sink(Supplier<? extends BatchSink> factory) {
    sinks = factory;
    return this;
  }

  /** Where batches live; default direct buffers. */
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
   * When the process is asked to end (SIGINT, SIGTERM), ends the flow and logs how far the consumer
   * came, after waiting that long for it to close the feed. Default: does nothing then.
   */
  public FeedBuilder stopOnShutdown(Duration grace) {
    shutdownGrace = atMostForever(grace);
    return this;
  }

  /**
   * Starts loading.
   *
   * @throws IllegalArgumentException if settings contradict each other, or the state to resume is
   *     one of other groups
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
