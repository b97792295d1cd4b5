package io.zrecord.internal.store.verify;

import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFiles;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The state of a store by its meta file and journal (FORMAT.md section 9).
 *
 * @param meta the state at the last checkpoint
 * @param journal the commits since then
 * @param chunks all chunks, with the ends that the journal gives them
 */
public record StoreState(StoreMeta meta, JournalScan journal, List<ChunkMeta> chunks) {

  /**
   * Reads the meta file and the journal.
   *
   * @throws io.zrecord.errors.ZRecordException if the meta file cannot be read
   */
  public static StoreState read(MutableFiles files) {
    StoreMeta meta = StoreMeta.read(
        files.pathOf(ShardMeta.FILE_NAME), files.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES));
    JournalScan journal = JournalScan.of(files, meta);
    Map<Integer, ChunkMeta> chunks = new TreeMap<>(Integer::compareUnsigned);
    meta.shard().chunks().forEach(chunk -> chunks.put(chunk.id(), chunk));
    meta.unfull().forEach(chunk -> chunks.put(chunk.id(), chunk));
    journal.changedChunks().forEach(chunk -> chunks.put(chunk.id(), chunk));
    return new StoreState(meta, journal, new ArrayList<>(chunks.values()));
  }

  /** Tells whether the tables alone, without the journal, are the state. */
  boolean isCheckpointed() {
    return journal.sequence() == meta.sequence();
  }
}
