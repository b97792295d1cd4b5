package io.zrecord.spark.write;

import io.zrecord.shard.ShardSummary;
import io.zrecord.table.write.ShardWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a task in a shard for each partition, or in several if partitions take turns more
 * often than shards may be open. Sealed shards of a partition are in the order of their rows.
 */
final class PartitionedShards implements TaskShards {
  /**
   * Most shards of a task for partitions that have one already. That many are small ones that a
   * better order of rows avoids. There is no limit to partitions.
   */
  private static final int MOST_FURTHER = 10_000;

  private final RowPartitions partitions;
  private final int mostOpen;
  private final Opener opener;
  private final Discarder discarder;

  /** The shards that are open, the one that got no row for the longest time first. */
  private final Map<List<@Nullable String>, ShardWriter> open =
      new LinkedHashMap<>(16, 0.75f, true);

  /** The partitions that have a shard. */
  private final Set<List<@Nullable String>> met = new HashSet<>();

  private int further;

  private final List<ShardSummary> sealed = new ArrayList<>();
  private long sealedRecords;
  private long sealedBytes;

  private @Nullable List<@Nullable String> current;
  private @Nullable ShardWriter currentShard;

  /** Begins a shard of a partition. */
  interface Opener {
    ShardWriter open(List<@Nullable String> partition);
  }

  /** Deletes sealed shards. */
  interface Discarder {
    void discard(List<ShardSummary> shards);
  }

  PartitionedShards(RowPartitions partitions, int mostOpen, Opener opener, Discarder discarder) {
    this.partitions = partitions;
    this.mostOpen = mostOpen;
    this.opener = opener;
    this.discarder = discarder;
  }

  @Override
  public ShardWriter shardOf(InternalRow row) {
    List<@Nullable String> partition = partitions.of(row);
    ShardWriter shard = currentShard;
    if (shard == null || !partition.equals(current)) {
      shard = ofPartition(partition);
      current = partition;
      currentShard = shard;
    }
    return shard;
  }

  private ShardWriter ofPartition(List<@Nullable String> partition) {
    ShardWriter shard = open.get(partition);
    if (shard != null) {
      return shard;
    }
    if (open.size() == mostOpen) {
      Iterator<ShardWriter> eldestFirst = open.values().iterator();
      seal(eldestFirst.next());
      eldestFirst.remove();
    }
    if (!met.add(partition) && ++further > MOST_FURTHER) {
      throw new IllegalStateException("A task cannot begin more than " + MOST_FURTHER
          + " further shards of partitions that it has written to: its rows change between more"
          + " than " + mostOpen + " partitions all the time; let the distribution of the write be"
          + " partition, or sort the rows by the partition columns, or let an UPDATE or a MERGE"
          + " change fewer partitions at a time");
    }
    ShardWriter opened = opener.open(partition);
    open.put(partition, opened);
    return opened;
  }

  private void seal(ShardWriter shard) {
    shard.finish().ifPresent(sealed::add);
    sealedRecords += shard.recordCount();
    sealedBytes += shard.writtenBytes();
    shard.close();
  }

  @Override
  public List<ShardSummary> finish() {
    open.values().forEach(this::seal);
    open.clear();
    currentShard = null;
    return sealed;
  }

  @Override
  public long recordCount() {
    return sealedRecords
        + open.values().stream().mapToLong(ShardWriter::recordCount).sum();
  }

  @Override
  public long writtenBytes() {
    return sealedBytes
        + open.values().stream().mapToLong(ShardWriter::writtenBytes).sum();
  }

  @Override
  public void discard() {
    close();
    discarder.discard(List.copyOf(sealed));
    sealed.clear();
  }

  @Override
  public void close() {
    open.values().forEach(ShardWriter::close);
    open.clear();
    currentShard = null;
  }
}
