package io.zrecord;

import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.layout.PatchFile;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Tells in which slot of its shard each record of a dataset is. A record keeps its slot, whatever
 * records of the shard are deleted, until the shard is written anew. Reads the list of deleted
 * slots of a shard when the first slot of the shard is asked for. {@link RecordDataset#slots} makes
 * one. Belongs to one thread.
 */
public final class RecordSlots {
  private final ShardList shards;
  private final @Nullable RankedBitmap[] deleted;
  private final boolean[] isKnown;

  RecordSlots(ShardList shards) {
    this.shards = shards;
    this.deleted = new RankedBitmap[shards.count()];
    this.isKnown = new boolean[shards.count()];
  }

  /**
   * Returns the slot of a record, from 0.
   *
   * @param index index of the record in the dataset
   * @throws IndexOutOfBoundsException if the index is not in {@code [0, length)}
   * @throws io.zrecord.errors.StorageException if the patch of the shard cannot be read
   * @throws io.zrecord.errors.CorruptDataException if the patch is damaged
   */
  public long slotOf(long index) {
    Objects.checkIndex(index, shards.length());
    int shard = shards.shardOf(index);
    if (!isKnown[shard]) {
      deleted[shard] = ofShard(shard);
      isKnown[shard] = true;
    }
    RankedBitmap gone = deleted[shard];
    long inShard = index - shards.firstIndex(shard);
    return gone == null ? inShard : gone.missing(inShard);
  }

  private @Nullable RankedBitmap ofShard(int ordinal) {
    PatchFile patch = shards.open(ordinal).patch();
    return patch == null ? null : patch.deleted();
  }
}
