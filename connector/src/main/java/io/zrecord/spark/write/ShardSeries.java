package io.zrecord.spark.write;

import io.zrecord.shard.ShardSummary;
import io.zrecord.table.write.ShardWriter;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.jspecify.annotations.Nullable;

/**
 * All rows of a task in one shard after the other. The next shard begins once the last one has
 * enough bytes, which are counted when a stripe is written.
 */
final class ShardSeries implements TaskShards {
  private final Supplier<ShardWriter> opener;
  private final SealedShards sealed;
  private final long shardBytes;
  private @Nullable ShardWriter current;

  ShardSeries(Supplier<ShardWriter> opener, SealedShards sealed, long shardBytes) {
    this.opener = opener;
    this.sealed = sealed;
    this.shardBytes = shardBytes;
    this.current = opener.get();
  }

  @Override
  public ShardWriter shardOf(InternalRow row) {
    ShardWriter shard = Objects.requireNonNull(current);
    if (shard.writtenBytes() >= shardBytes) {
      sealed.seal(shard);
      shard = opener.get();
      current = shard;
    }
    return shard;
  }

  @Override
  public List<ShardSummary> finish() {
    open().forEach(sealed::seal);
    current = null;
    return sealed.summaries();
  }

  @Override
  public long recordCount() {
    return sealed.recordCount(open());
  }

  @Override
  public long writtenBytes() {
    return sealed.writtenBytes(open());
  }

  @Override
  public void discard() {
    close();
    sealed.discard();
  }

  @Override
  public void close() {
    open().forEach(ShardWriter::close);
    current = null;
  }

  private List<ShardWriter> open() {
    return current == null ? List.of() : List.of(current);
  }
}
