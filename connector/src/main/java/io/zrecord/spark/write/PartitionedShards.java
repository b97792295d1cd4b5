package io.zrecord.spark.write;

import io.zrecord.shard.ShardSummary;
import io.zrecord.table.write.ShardWriter;
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
 * often than shards may be open, or have enough bytes. Sealed shards of a partition are in the
 * order of their rows.
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
  private final SealedShards sealed;
  private final long shardBytes;

  /** The shards that are open, the one that got no row for the longest time first. */
  private final Map<List<@Nullable String>, ShardWriter> open =
      new LinkedHashMap<>(16, 0.75f, true);

  /** The partitions that have a shard. */
  private final Set<List<@Nullable String>> met = new HashSet<>();

  private int further;

  private @Nullable List<@Nullable String> current;
  private @Nullable ShardWriter currentShard;

  /** Begins a shard of a partition. */
  interface Opener {
    ShardWriter open(List<@Nullable String> partition);
  }

  /** @param shardBytes after how many bytes of chunk files the next shard of a partition begins */
  PartitionedShards(
      RowPartitions partitions, int mostOpen, Opener opener, SealedShards sealed, long shardBytes) {
    this.partitions = partitions;
    this.mostOpen = mostOpen;
    this.opener = opener;
    this.sealed = sealed;
    this.shardBytes = shardBytes;
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
    if (shard.writtenBytes() >= shardBytes) {
      sealed.seal(shard);
      shard = opener.open(partition);
      open.put(partition, shard);
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
      sealed.seal(eldestFirst.next());
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

  @Override
  public List<ShardSummary> finish() {
    open.values().forEach(sealed::seal);
    open.clear();
    currentShard = null;
    return sealed.summaries();
  }

  @Override
  public long recordCount() {
    return sealed.recordCount(open.values());
  }

  @Override
  public long writtenBytes() {
    return sealed.writtenBytes(open.values());
  }

  @Override
  public void discard() {
    close();
    sealed.discard();
  }

  @Override
  public void close() {
    open.values().forEach(ShardWriter::close);
    open.clear();
    currentShard = null;
  }
}
