package io.zrecord.rebalance;

import io.zrecord.RecordDataset;
import io.zrecord.read.ReadMetrics;
import io.zrecord.rebalance.order.Arrangement;
import io.zrecord.rebalance.order.IndexWriter;
import io.zrecord.shard.ShardSummary;
import java.util.List;
import java.util.UUID;
import java.util.function.LongConsumer;

/** Writes the shards of a relayout in this process. */
final class LocalRelayout implements RelayoutWork {
  private final RelayoutPlan plan;
  private final RewriteRun run;
  private final RecordDataset source;
  private final Arrangement arrangement;

  /** Creates the work and finds the order. */
  LocalRelayout(RelayoutPlan plan, RewriteRun run) {
    this.plan = plan;
    this.run = run;
    this.source = RelayoutSource.open(plan.snapshot(), UUID.randomUUID(), new ReadMetrics());
    this.arrangement = plan.order().arrange(source);
  }

  @Override
  public List<ShardSummary> write(RelayoutPlan.Range range, LongConsumer onRecords) {
    LongConsumer onMore = count -> {
      run.requireGoingOn();
      onRecords.accept(count);
    };
    try (GroupRewriter rewriter = new GroupRewriter(
        plan.snapshot().storage(), plan.snapshot().schema(), plan.options(), onMore)) {
      return rewriter.gather(source, arrangement, range);
    }
  }

  @Override
  public ShardSummary writeMap() {
    try (IndexWriter map =
        IndexWriter.ofMap(plan.snapshot().storage(), plan.options().write())) {
      map.putAll(arrangement, run::requireGoingOn);
      return map.finish().orElseThrow();
    }
  }

  @Override
  public void close() {
    source.close();
  }
}
