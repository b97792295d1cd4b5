package io.zrecord.verify;

import io.zrecord.DatasetKind;
import io.zrecord.Storages;
import io.zrecord.internal.dataset.Providers;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The content of a directory, from metadata alone. Takes no lock: the summary of a store that is
 * being written is a past state.
 *
 * @param kind kind of the dataset
 * @param schema the fields
 * @param stems file stems of a store by field id; empty for a table
 * @param length number of records
 * @param shardCount number of shards
 * @param chunkCount number of chunk files
 * @param writtenRecords records written, as {@link ChunkFile#writtenRecords} counts them;
 *     {@code length} of them are live
 * @param chunkBytes bytes of the chunks
 * @param valueBytes stored bytes of the reachable values; of a store, as of its last checkpoint.
 *     Empty if records of a table were deleted or changed since its shards were written: only the
 *     shards' own files tell then, which an {@link io.zrecord.inspect.DatasetInspection} reads
 * @param journalBytes bytes of a store's journal, which opening the store reads
 * @param versions versions of a table, oldest first; otherwise empty
 * @param snapshot the summarized version of a table
 */
public record DatasetSummary(
    DatasetKind kind,
    RecordSchema schema,
    Map<Integer, String> stems,
    long length,
    int shardCount,
    long chunkCount,
    long writtenRecords,
    long chunkBytes,
    OptionalLong valueBytes,
    long journalBytes,
    List<Long> versions,
    Optional<TableSnapshot> snapshot) {

  /**
   * Reads the summary of a dataset; of a table, the summary of the newest version.
   *
   * @param location a local path, or a URI of a storage on the class path, such as
   *     {@code s3://bucket/train}; see {@link Storages}
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws io.zrecord.errors.CorruptDataException if a metadata file is damaged
   */
  public static DatasetSummary of(String location) {
    return of(Storages.at(location));
  }

  /** Reads the summary of what is at the root of a storage, as the other method does. */
  public static DatasetSummary of(Storage storage) {
    return switch (DatasetKind.of(storage)) {
      case TABLE -> ofTable(RecordTable.at(storage));
      case STORE ->
        Providers.ofStores(CheckProvider.class, storage, "summarize").summary(storage);
    };
  }

  private static DatasetSummary ofTable(RecordTable table) {
    TableSnapshot snapshot = table.latest();
    List<ShardSummary> shards = snapshot.shards();
    return new DatasetSummary(
        DatasetKind.TABLE,
        snapshot.schema(),
        Map.of(),
        snapshot.length(),
        shards.size(),
        shards.stream().mapToLong(ShardSummary::chunkCount).sum(),
        shards.stream()
            .mapToLong(shard -> ChunkFile.writtenRecords(shard.chunks(), shard.slots()))
            .sum(),
        shards.stream().mapToLong(ShardSummary::chunkBytes).sum(),
        valueBytes(snapshot.schema(), shards),
        0,
        table.versions(),
        Optional.of(snapshot));
  }

  private static OptionalLong valueBytes(RecordSchema schema, List<ShardSummary> shards) {
    if (shards.stream().anyMatch(shard -> shard.patch() != null)) {
      return OptionalLong.empty();
    }
    // Of a field that was dropped, nothing is reachable.
    Set<Integer> ids = new HashSet<>();
    schema.fields().forEach(field -> ids.add(field.id()));
    schema.unreadable().forEach(field -> ids.add(field.id()));
    long bytes = 0;
    for (ShardSummary shard : shards) {
      for (Map.Entry<Integer, Long> field : shard.valueBytes().entrySet()) {
        bytes += ids.contains(field.getKey()) ? field.getValue() : 0;
      }
    }
    return OptionalLong.of(bytes);
  }
}
