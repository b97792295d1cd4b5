package io.zrecord.rebalance;

import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
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
  private final RecordTable table;
  private final RecordOrder order;
  private RebalanceOptions options = RebalanceOptions.defaults();
  private final RewriteRun run = new RewriteRun();
  private Function<RelayoutPlan, RelayoutWork> workplace = plan -> new LocalRelayout(plan, run);

  private Relayout(TableSnapshot snapshot, RecordOrder order) {
    this.snapshot = snapshot;
    this.table = RecordTable.at(snapshot.storage());
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

  /** Ranges that are written side by side, 1 to 1,000; default one for each processor, at most 4. */
  public Relayout threads(int count) {
    run.threads(count);
    return this;
  }

  /** Informative strings for the manifest. */
  public Relayout properties(Map<String, String> strings) {
    run.properties(strings);
    return this;
  }

  /** Has the shards written elsewhere; they are still committed here. */
  public Relayout working(Function<RelayoutPlan, RelayoutWork> elsewhere) {
    workplace = elsewhere;
    return this;
  }

  /** Is told how many records are written so far, by any thread. */
  public Relayout onRecords(LongConsumer listener) {
    run.onRecords(listener);
    return this;
  }

  /**
   * Writes and commits.
   *
   * @throws io.zrecord.errors.CommitConflictException if anything was committed since the version was read, which is looked for before
   *     each range; nothing changed, and what was written is deleted
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have been published; what was written stays
   * @throws io.zrecord.errors.CorruptDataException if a value is damaged; nothing changed
   * @throws io.zrecord.errors.DiskFullException if there is no room for a second copy of the records; nothing changed
   * @throws IllegalArgumentException if there are no records, or the order is not one of these records
   */
  public RelayoutResult run() {
    RelayoutPlan plan = new RelayoutPlan(snapshot, order, options);
    table.requireNewest(snapshot);
    plan.requireSpace();
    RelayoutCommit commit = new RelayoutCommit(plan, run.properties());
    try (RelayoutWork work = workplace.apply(plan)) {
      ShardsByRange written = new ShardsByRange();
      write(plan, work, written);
      return commit.commit(written.map(), written.shards());
    }
  }

  private void write(RelayoutPlan plan, RelayoutWork work, ShardsByRange written) {
    List<Runnable> parts = new ArrayList<>();
    parts.add(() -> written.put(ShardsByRange.MAP, List.of(work.writeMap())));
    for (RelayoutPlan.Range range : plan.ranges()) {
      parts.add(() -> {
        // What is hopeless ends early.
        table.requireNewest(snapshot);
        written.put(range.from(), work.write(range, run::countRecords));
      });
    }
    try {
      run.run(parts, "Interrupted in a relayout; nothing changed");
    } catch (RuntimeException | Error e) {
      table.discard(written.all());
      throw e;
    }
  }

  /** What was written so far, by the first index. Thread-safe. */
  private static final class ShardsByRange {
    /** Stands for the index map, and comes first. */
    static final long MAP = -1;

    private final SortedMap<Long, List<ShardSummary>> shards = new ConcurrentSkipListMap<>();

    void put(long first, List<ShardSummary> written) {
      shards.put(first, written);
    }

    ShardSummary map() {
      return Objects.requireNonNull(shards.get(MAP)).get(0);
    }

    List<ShardSummary> shards() {
      return shards.tailMap(0L).values().stream().flatMap(List::stream).toList();
    }

    List<ShardSummary> all() {
      return shards.values().stream().flatMap(List::stream).toList();
    }
  }
}
