package io.zrecord.internal.store.write;

import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.store.EntryTable;
import java.util.List;

/**
 * Forces the tables, states their length and sums in the meta file, and empties the journal. A
 * checkpoint that is cut short at any moment leaves a recoverable store. Guarded by the turn to
 * commit.
 */
final class Checkpoint {
  private final StoreFiles store;
  private final StoreLimits limits;

  Checkpoint(StoreFiles store, StoreLimits limits) {
    this.store = store;
    this.limits = limits;
  }

  /** Tells whether the journal has grown so long that forcing the tables is cheaper. */
  boolean isDue() {
    return store.journal().lengthBytes() >= limits.checkpointBytes();
  }

  /** Writes the checkpoint of a store whose tables hold the records up to {@code length}. */
  void write(long length) {
    writeMeta(length);
    store.journal().empty();
  }

  private void writeMeta(long length) {
    // Chunks first: the journal, which may carry some of their bytes, is emptied at the end.
    List<ChunkMeta> unfull = store.chunks().force();
    for (EntryTable table : store.tables()) {
      table.force();
    }
    store.counts().requirePossible(length);
    // The journal is emptied next: an unreadable meta file would be the end of the store.
    store
        .files()
        .replace(
            ShardMeta.FILE_NAME,
            meta(length, unfull).writeReadable(store.files().pathOf(ShardMeta.FILE_NAME)),
            store.writer()::require);
  }

  private StoreMeta meta(long length, List<ChunkMeta> unfull) {
    return new StoreMeta(
        new ShardMeta(
            store.storeId(),
            length,
            true,
            limits.chunkBytes(),
            store.chunks().closed(),
            store.counts().metas()),
        unfull,
        limits.chunkRecords(),
        store.journal().sequence());
  }
}
