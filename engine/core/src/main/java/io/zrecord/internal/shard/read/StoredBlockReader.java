package io.zrecord.internal.shard.read;

import io.zrecord.internal.io.MapFaults;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.fetch.Prefetched;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.StoredBlock;
import io.zrecord.read.StoredBlocks;
import io.zrecord.read.Verification;
import io.zrecord.schema.Compression;
import io.zrecord.schema.FieldSpec;
import org.jspecify.annotations.Nullable;

/** Reads stored blocks across the shards of a dataset. Belongs to one thread. */
public final class StoredBlockReader implements StoredBlocks {
  private final ReadContext context;
  private final Compression compression;

  // No block begins with records of this range.
  private long noneFrom;
  private long noneBefore;

  /**
   * Creates a reader.
   *
   * @param compression blocks of another one are passed over, and so are those without checksums
   */
  public StoredBlockReader(
      FieldSpec field,
      Compression compression,
      ShardList shards,
      Verification verification,
      ReadMetrics metrics) {
    this.context = new ReadContext(
        field, ReadContext.Form.STORED, shards, new Prefetched(), verification, metrics);
    this.compression = compression;
  }

  @Override
  public @Nullable StoredBlock beginningAt(long index) {
    if (index >= noneFrom && index < noneBefore) {
      return null;
    }
    ShardList shards = context.shards();
    int shard = shards.shardOf(java.util.Objects.checkIndex(index, shards.length()));
    try {
      try {
        context.trim();
        ShardPart part = context.part(shard);
        if (part.patch() == null
            && part.field() instanceof BlockField field
            && field.hasChecksums()
            && field.compression().equals(compression)) {
          StoredBlock block =
              context.blocks().stored(part, field, index - shards.firstIndex(shard));
          noneFrom = index + 1;
          noneBefore = shards.firstIndex(shard) + context.blocks().endSlot();
          return block;
        }
        noneFrom = shards.firstIndex(shard);
        noneBefore = shards.firstIndex(shard + 1);
        return null;
      } finally {
        MapFaults.surface();
      }
    } catch (InternalError e) {
      throw context.truncated(e);
    }
  }
}
