package io.zrecord.rebalance;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Rebalances a table, on this machine unless said otherwise: group by group, each replaced by a commit of its own as soon as it is rewritten. For one run.
 *
 * <pre>{@code
 * RebalancePlan plan = RebalancePlan.of(RecordTable.at(LocalStorage.at(path)).latest(), RebalanceOptions.defaults());
 * RebalanceResult result = Rebalance.of(plan).threads(2).run();
 * }</pre>
 */
public final class Rebalance {
  private final RebalancePlan plan;
  private int threads = Math.min(4, Runtime.getRuntime().availableProcessors());
  private Map<String, String> properties = Map.of();
  private LongConsumer onRecords = records -> {};
  private GroupRewrite rewrite = this::rewriteHere;
  private final AtomicBoolean hasFailed = new AtomicBoolean();
  private final AtomicReference<@Nullable CommitOutcomeUnknownException> unknownOutcome =
      new AtomicReference<>();

  private Rebalance(RebalancePlan plan) {
    this.plan = plan;
  }

  public static Rebalance of(RebalancePlan plan) {
    return new Rebalance(plan);
  }

  /** Groups that are rewritten side by side, 1 to 1,000; default one for each processor, at most 4. */
  public Rebalance threads(int count) {
    if (count < 1 || count > 1000) {
      throw new IllegalArgumentException("threads is " + count + "; it must be 1 to 1000");
    }
    threads = count;
    return this;
  }

  /** Informative strings for the manifests. */
  public Rebalance properties(Map<String, String> strings) {
    properties = Map.copyOf(strings);
    return this;
  }

  /** Has groups rewritten elsewhere; they are still committed here. */
  public Rebalance rewriting(GroupRewrite elsewhere) {
    rewrite = elsewhere;
    return this;
  }

  /** Is told how many records are rewritten so far, by any thread. */
  public Rebalance onRecords(LongConsumer listener) {
    onRecords = listener;
    return this;
  }

  /**
   * Rewrites what is planned. A group that fails stays as it is; the others go on.
   *
   * @throws CommitOutcomeUnknownException if a commit may or may not have been published; then nothing more is begun
   */
  public RebalanceResult run() {
    Totals totals = new Totals();
    AtomicLong records = new AtomicLong();
    RebalanceCommit commit = new RebalanceCommit(plan, properties);
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (RebalanceGroup group : plan.groups()) {
        running.add(executor.submit(() ->
            rewrite(group, commit, totals, count -> onRecords.accept(records.addAndGet(count)))));
      }
      for (Future<?> group : running) {
        await(group);
      }
    } catch (RuntimeException e) {
      stop(executor);
      // Whatever else went wrong, this must be known.
      CommitOutcomeUnknownException unknown = unknownOutcome.get();
      throw unknown == null ? e : unknown;
    } finally {
      stop(executor);
    }
    return totals.result(plan.isCutShort());
  }

  /** Nothing more is begun, also if this thread was interrupted. */
  private void stop(ExecutorService executor) {
    hasFailed.set(true);
    executor.shutdownNow();
    awaitEnd(executor);
  }

  /** Nothing is committed or deleted any more when this returns. */
  static void awaitEnd(ExecutorService executor) {
    boolean interrupted = false;
    boolean ended = false;
    while (!ended) {
      try {
        ended = executor.awaitTermination(1, TimeUnit.MINUTES);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void await(Future<?> group) {
    try {
      group.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted in a rebalance; what was committed is kept", e);
    }
  }

  private void rewrite(
      RebalanceGroup group, RebalanceCommit commit, Totals totals, LongConsumer onMore) {
    if (hasFailed.get()) {
      return;
    }
    try {
      List<ShardSummary> shards = rewrite.rewrite(group, onMore);
      commit(group, commit, shards);
      totals.add(group, shards);
    } catch (CommitOutcomeUnknownException e) {
      hasFailed.set(true);
      unknownOutcome.compareAndSet(null, e);
      throw e;
    } catch (ZRecordException e) {
      totals.fail(group, e);
    } catch (RuntimeException | Error e) {
      hasFailed.set(true);
      throw e;
    }
  }

  private List<ShardSummary> rewriteHere(RebalanceGroup group, LongConsumer onMore) {
    try (GroupRewriter rewriter =
        new GroupRewriter(plan.snapshot().storage(), plan.schema(), plan.options(), onMore)) {
      return rewriter.rewrite(group);
    }
  }

  /** Until the outcome is known to be a failure, deleting could delete what a version names. */
  private void commit(RebalanceGroup group, RebalanceCommit commit, List<ShardSummary> shards) {
    try {
      commit.commit(group, shards);
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (ZRecordException e) {
      shards.forEach(shard -> delete(shard, e));
      throw e;
    }
  }

  private void delete(ShardSummary shard, ZRecordException reason) {
    try {
      plan.snapshot().storage().delete(shard.directory());
    } catch (ZRecordException e) {
      reason.addSuppressed(e); // An orphan costs space only.
    }
  }

  /** Sums of what the threads did. */
  private static final class Totals {
    private final List<RebalanceResult.Failure> failures = new ArrayList<>();
    private int groups;
    private long records;
    private RebalanceResult.Extent before = RebalanceResult.Extent.NONE;
    private RebalanceResult.Extent after = RebalanceResult.Extent.NONE;

    synchronized void add(RebalanceGroup group, List<ShardSummary> shards) {
      groups++;
      records += group.recordCount();
      before = before.plus(RebalanceGroup.extent(group.shards()));
      after = after.plus(RebalanceGroup.extent(shards));
    }

    synchronized void fail(RebalanceGroup group, RuntimeException reason) {
      failures.add(new RebalanceResult.Failure(
          group.firstIndex(), group.recordCount(), String.valueOf(reason.getMessage())));
    }

    synchronized RebalanceResult result(boolean isCutShort) {
      return new RebalanceResult(groups, records, before, after, failures, isCutShort);
    }
  }
}
