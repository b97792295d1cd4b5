package io.zrecord.rebalance;

import io.zrecord.RecordDataset;
import io.zrecord.scan.ReadMetrics;
import io.zrecord.scan.Verification;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * Writes all records of a table in another order, as one version, and beside it the map from the old indices to the new ones
 * ({@link TableSnapshot#indexMap}). <b>An index names another record afterwards</b>: whatever was saved of indices or of positions of samplers
 * and feeds belongs to the version before, which stays as it is until it is expired. For one run.
 *
 * <pre>{@code
 * TableSnapshot snapshot = RecordTable.at(LocalStorage.at(path)).latest();
 * RelayoutResult result = Relayout.of(snapshot, RecordOrder.shuffle(42)).run();
 * long newIndex = result.snapshot().indexMap().orElseThrow().newIndex(17);
 * }</pre>
 *
 * <p>Each thread takes a range of the new indices and gathers their records, so that reading is random and writing is not. Memory is that of a
 * stripe and a batch of at most 16 MiB or one value for each field, times the threads, and what the order takes; and a bit for each value of
 * a field without a fixed width, which says that its checksum was right.
 */
public final class Relayout {
  private final TableSnapshot snapshot;
  private final RecordOrder order;
  private RebalanceOptions options = RebalanceOptions.defaults();
  private int threads = Math.min(4, Runtime.getRuntime().availableProcessors());
  private Map<String, String> properties = Map.of();
  private LongConsumer onRecords = records -> {};
  private final AtomicLong records = new AtomicLong();
  private volatile boolean isStopped;

  private Relayout(TableSnapshot snapshot, RecordOrder order) {
    this.snapshot = snapshot;
    this.order = order;
  }

  /** Of the newest version; that of an older one fails when it is committed. */
  public static Relayout of(TableSnapshot snapshot, RecordOrder order) {
    return new Relayout(snapshot, order);
  }

  /** How new shards are laid out, and at how many chunk bytes one ends, about; default that of {@link RebalanceOptions#defaults}. */
  public Relayout layout(WriteOptions write, long targetShardBytes) {
    options = RebalanceOptions.defaults().withShardBytes(0, targetShardBytes).withWrite(write);
    return this;
  }

  /** Ranges that are written side by side, 1 to 64; default one for each processor, at most 4. */
  public Relayout threads(int count) {
    if (count < 1 || count > 64) {
      throw new IllegalArgumentException("threads is " + count + "; it must be 1 to 64");
    }
    threads = count;
    return this;
  }

  /** Informative strings for the manifest. */
  public Relayout properties(Map<String, String> strings) {
    properties = Map.copyOf(strings);
    return this;
  }

  /** Is told how many records are written so far, by any thread. */
  public Relayout onRecords(LongConsumer listener) {
    onRecords = listener;
    return this;
  }

  /**
   * Writes and commits.
   *
   * @throws io.zrecord.errors.CommitConflictException if anything was committed since the version was read; nothing changed, and what was
   *     written is deleted
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have been published; what was written stays
   * @throws io.zrecord.errors.CorruptDataException if a value is damaged; nothing changed
   * @throws IllegalArgumentException if there are no records, or the order is not one of these records
   */
  public RelayoutResult run() {
    RelayoutPlan plan = new RelayoutPlan(snapshot, order, options);
    RelayoutCommit commit = new RelayoutCommit(plan, properties);
    try (RecordDataset source = RecordDataset.open(
        snapshot, new RecordDataset.ReadOptions(Verification.FIRST, new ReadMetrics()))) {
      Arrangement arrangement = order.arrange(source);
      return commit.commit(arrangement, write(source, arrangement, plan, commit));
    }
  }

  private List<ShardSummary> write(
      RecordDataset source, Arrangement arrangement, RelayoutPlan plan, RelayoutCommit commit) {
    List<ShardSummary> written = Collections.synchronizedList(new ArrayList<>());
    List<ShardSummary> shards = new ArrayList<>();
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    boolean isWritten = false;
    try {
      List<Future<List<ShardSummary>>> running = new ArrayList<>();
      for (RelayoutPlan.Range range : plan.ranges()) {
        running.add(executor.submit(() -> write(source, arrangement, range, written)));
      }
      for (Future<List<ShardSummary>> range : running) {
        shards.addAll(await(range));
      }
      isWritten = true;
      return shards;
    } finally {
      isStopped = true;
      executor.shutdown();
      Rebalance.awaitEnd(executor);
      if (!isWritten) {
        commit.discard(written);
      }
    }
  }

  private List<ShardSummary> write(
      RecordDataset source,
      Arrangement arrangement,
      RelayoutPlan.Range range,
      List<ShardSummary> written) {
    requireGoingOn();
    try (GroupRewriter rewriter =
        new GroupRewriter(snapshot.storage(), snapshot.schema(), options, this::countRecords)) {
      List<ShardSummary> shards = rewriter.gather(source, arrangement, range);
      written.addAll(shards);
      return shards;
    }
  }

  private void countRecords(long count) {
    requireGoingOn();
    onRecords.accept(records.addAndGet(count));
  }

  private void requireGoingOn() {
    if (isStopped) {
      throw new CancellationException("Another range of the relayout failed");
    }
  }

  private static List<ShardSummary> await(Future<List<ShardSummary>> range) {
    try {
      return range.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted in a relayout; nothing changed", e);
    }
  }
}
