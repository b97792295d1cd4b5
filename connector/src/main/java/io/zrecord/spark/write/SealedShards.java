package io.zrecord.spark.write;

import io.zrecord.shard.ShardSummary;
import io.zrecord.table.write.ShardWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/** The shards that an attempt of a task has sealed, in their order. Belongs to one thread. */
final class SealedShards {
  private final Consumer<List<ShardSummary>> discarder;
  private final List<ShardSummary> summaries = new ArrayList<>();
  private long recordCount;
  private long writtenBytes;

  /** @param discarder deletes sealed shards */
  SealedShards(Consumer<List<ShardSummary>> discarder) {
    this.discarder = discarder;
  }

  /** Seals a shard; one without a record leaves nothing. */
  void seal(ShardWriter shard) {
    shard.finish().ifPresent(summaries::add);
    recordCount += shard.recordCount();
    writtenBytes += shard.writtenBytes();
    shard.close();
  }

  List<ShardSummary> summaries() {
    return summaries;
  }

  /** Returns the records of all shards. */
  long recordCount(Collection<ShardWriter> open) {
    return recordCount + open.stream().mapToLong(ShardWriter::recordCount).sum();
  }

  /** Returns the bytes in chunk files of all shards so far. */
  long writtenBytes(Collection<ShardWriter> open) {
    return writtenBytes + open.stream().mapToLong(ShardWriter::writtenBytes).sum();
  }

  /** Deletes all sealed shards. */
  void discard() {
    discarder.accept(List.copyOf(summaries));
    summaries.clear();
  }
}
