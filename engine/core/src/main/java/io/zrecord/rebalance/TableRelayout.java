package io.zrecord.rebalance;

import io.zrecord.rebalance.order.RecordOrder;
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
 * Writes all records of a table in another order, as one version. Also writes a map from the old
 * indices to the new indices ({@link TableSnapshot#indexMap}). <b>An index names another record
 * afterwards</b>: saved indices and saved positions of samplers and feeds belong to the version
 * before, which stays as it is until it is expired. For one run.
 *
 * <pre>{@code
 * TableSnapshot snapshot = RecordTable.at(LocalStorage.at(path)).latest();
 * RelayoutResult result = TableRelayout.of(snapshot, RecordOrder.shuffle(42)).run();
 * long newIndex = result.snapshot().indexMap().orElseThrow().newIndex(17);
 * }</pre>
 *
 * <p>Each thread takes a range of the new indices and gathers their records, so reads are random
 * and writes are sequential. Each thread needs the memory of a stripe and of a batch: at most 16
 * MiB or one value for each field. All threads share the memory of the order, and one bit for each
 * value of a field without a fixed width, which remembers a verified checksum.
 */
public final class TableRelayout {
  private final TableSnapshot snapshot;
  private final RecordTable table;
  private final RecordOrder order;
  private RebalanceOptions options = RebalanceOptions.defaults();
  private final RewriteRun run = new RewriteRun();
  private Function<RelayoutPlan, RelayoutWork> workplace = plan -> new LocalRelayout(plan, run);

  private TableRelayout(TableSnapshot snapshot, RecordOrder order) {
    this.snapshot = snapshot;
    this.table = RecordTable.at(snapshot.storage());
    this.order = order;
  }

  /**
   * Returns a relayout of the newest version. The relayout of an older version fails at its commit.
   */
  public static TableRelayout of(TableSnapshot snapshot, RecordOrder order) {
    return new TableRelayout(snapshot, order);
  }

  /**
   * Sets the layout of new shards and the approximate chunk bytes at which a shard ends. The
   * default is that of {@link RebalanceOptions#defaults}.
   */
  public TableRelayout layout(WriteOptions write, long targetShardBytes) {
    options = RebalanceOptions.defaults().withShardBytes(0, targetShardBytes).withWrite(write);
    return this;
  }

  /**
   * Sets the number of ranges that are written side by side, 1 to 1,000. The default is one for
   * each processor, at most 4.
   */
  public TableRelayout threads(int count) {
    run.threads(count);
    return this;
  }

  /** Sets informative strings for the manifest. */
  public TableRelayout properties(Map<String, String> strings) {
    run.properties(strings);
    return this;
  }

  /** Writes the shards elsewhere. The version is still committed here. */
  public TableRelayout working(Function<RelayoutPlan, RelayoutWork> elsewhere) {
    workplace = elsewhere;
    return this;
  }

  /** Sets a listener that takes the number of records written so far, on any thread. */
  public TableRelayout onRecords(LongConsumer listener) {
    run.onRecords(listener);
    return this;
  }

  /**
   * Writes and commits the version.
   *
   * @throws io.zrecord.errors.CommitConflictException if anything was committed since the version
   *     was read, which is checked before each range; nothing changed, and the written shards are
   *     deleted
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have been
   *     published; the written shards stay
   * @throws io.zrecord.errors.CorruptDataException if a value is damaged; nothing changed
   * @throws io.zrecord.errors.DiskFullException if there is no room for a second copy of the
   *     records; nothing changed
   * @throws IllegalArgumentException if there are no records, or the order does not fit these
   *     records
   */
  public RelayoutResult run() {
    snapshot.requireWritable();
    WritableShards.require(snapshot.storage(), snapshot.shards());
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
        // Stop early: a newer version already makes this a conflict.
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

  /** The shards written so far, by first index. Thread-safe. */
  private static final class ShardsByRange {
    /** Key of the index map, which comes first. */
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
