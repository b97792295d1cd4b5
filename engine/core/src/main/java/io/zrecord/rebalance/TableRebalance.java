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
 * Rebalances a table, on this machine by default. A commit of its own replaces each group of shards
 * as soon as the group is rewritten. For one run.
 *
 * <pre>{@code
 * TableSnapshot snapshot = RecordTable.at(LocalStorage.at(path)).latest();
 * RebalancePlan plan = RebalancePlan.of(snapshot, RebalanceOptions.defaults());
 * RebalanceResult result = TableRebalance.of(plan).threads(2).run();
 * }</pre>
 */
public final class TableRebalance {
  private final RebalancePlan plan;
  private final RewriteRun run = new RewriteRun();
  private GroupRewrite rewrite = this::rewriteHere;
  private final AtomicReference<@Nullable CommitOutcomeUnknownException> unknownOutcome =
      new AtomicReference<>();

  private TableRebalance(RebalancePlan plan) {
    this.plan = plan;
  }

  public static TableRebalance of(RebalancePlan plan) {
    return new TableRebalance(plan);
  }

  /**
   * Sets the number of groups that are rewritten side by side, 1 to 1,000. The default is one for
   * each processor, at most 4.
   */
  public TableRebalance threads(int count) {
    run.threads(count);
    return this;
  }

  /** Sets informative strings for the manifests. */
  public TableRebalance properties(Map<String, String> strings) {
    run.properties(strings);
    return this;
  }

  /** Rewrites groups elsewhere. Groups are still committed here. */
  public TableRebalance rewriting(GroupRewrite elsewhere) {
    rewrite = elsewhere;
    return this;
  }

  /** Sets a listener that takes the number of records rewritten so far, on any thread. */
  public TableRebalance onRecords(LongConsumer listener) {
    run.onRecords(listener);
    return this;
  }

  /**
   * Rewrites the planned groups. A group that fails stays as it is, and the other groups continue.
   *
   * @throws CommitOutcomeUnknownException if a commit may or may not have been published; no
   *     further group is begun then
   */
  public RebalanceResult run() {
    Totals totals = new Totals();
    RebalanceCommit commit = new RebalanceCommit(plan, run.properties());
    List<Runnable> parts = new ArrayList<>();
    plan.groups().forEach(group -> parts.add(() -> rewrite(group, commit, totals)));
    try {
      run.run(parts, "Interrupted in a rebalance; what was committed is kept");
    } catch (RuntimeException e) {
      // An unknown outcome is reported whatever else went wrong.
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

  /**
   * Commits a group. Deletes the new shards only after a known failure, because deleting earlier
   * might remove files that a version names.
   */
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

  /** Sums over the threads. */
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
