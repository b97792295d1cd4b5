package io.zrecord.rebalance;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.RecordTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
  private final RewriteRun run = new RewriteRun();
  private GroupRewrite rewrite = this::rewriteHere;
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
    run.threads(count);
    return this;
  }

  /** Informative strings for the manifests. */
  public Rebalance properties(Map<String, String> strings) {
    run.properties(strings);
    return this;
  }

  /** Has groups rewritten elsewhere; they are still committed here. */
  public Rebalance rewriting(GroupRewrite elsewhere) {
    rewrite = elsewhere;
    return this;
  }

  /** Is told how many records are rewritten so far, by any thread. */
  public Rebalance onRecords(LongConsumer listener) {
    run.onRecords(listener);
    return this;
  }

  /**
   * Rewrites what is planned. A group that fails stays as it is; the others go on.
   *
   * @throws CommitOutcomeUnknownException if a commit may or may not have been published; then nothing more is begun
   */
  public RebalanceResult run() {
    Totals totals = new Totals();
    RebalanceCommit commit = new RebalanceCommit(plan, run.properties());
    List<Runnable> parts = new ArrayList<>();
    plan.groups().forEach(group -> parts.add(() -> rewrite(group, commit, totals)));
    try {
      run.run(parts, "Interrupted in a rebalance; what was committed is kept");
    } catch (RuntimeException e) {
      // Whatever else went wrong, this must be known.
      CommitOutcomeUnknownException unknown = unknownOutcome.get();
      throw unknown == null ? e : unknown;
    }
    return totals.result(plan.isCutShort());
  }

  private void rewrite(RebalanceGroup group, RebalanceCommit commit, Totals totals) {
    try {
      List<ShardSummary> shards = rewrite.rewrite(group, run::countRecords);
      commit(group, commit, shards);
      totals.add(group, shards);
    } catch (CommitOutcomeUnknownException e) {
      unknownOutcome.compareAndSet(null, e);
      throw e;
    } catch (ZRecordException e) {
      totals.fail(group, e);
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
      RecordTable.at(plan.snapshot().storage()).discard(shards);
      throw e;
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
