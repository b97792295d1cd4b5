package io.zrecord.shard;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Says what a manifest knows of a shard (FORMAT.md section 7): enough to plan, and to name the
 * shard's files, without opening one. Takes a few hundred bytes; it is also the message of a write
 * task to its driver. Immutable.
 *
 * @param id the shard's identity; its directory is {@code shard/<id>}
 * @param length number of records, > 0
 * @param chunks its chunk files
 * @param tables its tables files; a field is in one of them at most
 * @param valueBytes stored bytes of each field's values, by field id; a field that is missing here
 *     is absent in this shard
 * @param partition the value of each partition field of the table, in their order, as
 *     {@link io.zrecord.table.write.PartitionText} has it; null where the field is absent; empty if
 *     the table is not partitioned
 * @param patch what was deleted and changed since the tables files were written; null if nothing
 * @param unknown what a later release says of the shard, as JSON, which commits carry on; mostly
 *     empty
 */
public record ShardSummary(
    UUID id,
    long length,
    List<ChunkFile> chunks,
    List<TablesRef> tables,
    SortedMap<Integer, Long> valueBytes,
    List<@Nullable String> partition,
    @Nullable PatchRef patch,
    String unknown)
    implements Serializable {

  public ShardSummary {
    chunks = List.copyOf(chunks);
    tables = List.copyOf(tables);
    valueBytes = SizesById.of(valueBytes);
    partition =
        partition.isEmpty() ? List.of() : Collections.unmodifiableList(new ArrayList<>(partition));
  }

  /** Makes a summary that says nothing beyond this release. */
  public ShardSummary(
      UUID id,
      long length,
      List<ChunkFile> chunks,
      List<TablesRef> tables,
      SortedMap<Integer, Long> valueBytes) {
    this(id, length, chunks, tables, valueBytes, List.of(), null, "");
  }

  /** Returns this shard as one of a partition. */
  public ShardSummary withPartition(List<@Nullable String> newPartition) {
    return new ShardSummary(id, length, chunks, tables, valueBytes, newPartition, patch, unknown);
  }

  /**
   * Returns this shard without the sizes of its fields, which only planners need: some hundred
   * bytes, however many fields the shard has.
   */
  public ShardSummary withoutSizes() {
    if (valueBytes.isEmpty() && unknown.isEmpty()) {
      return this;
    }
    return new ShardSummary(
        id, length, chunks, tables, Collections.emptySortedMap(), partition, patch, "");
  }

  /**
   * Returns this shard after a change of its records.
   *
   * @param newLength number of records that are left
   * @param newChunks the chunk files of its tables, and those of the patch
   */
  public ShardSummary patched(long newLength, List<ChunkFile> newChunks, PatchRef newPatch) {
    return new ShardSummary(
        id, newLength, newChunks, tables, valueBytes, partition, newPatch, unknown);
  }

  /**
   * Returns this shard after a change of its fields that leaves nothing of its patch. No record of
   * the shard is deleted.
   *
   * @param newChunks the chunk files of its tables
   */
  public ShardSummary unpatched(List<ChunkFile> newChunks) {
    return new ShardSummary(id, length, newChunks, tables, valueBytes, partition, null, unknown);
  }

  /**
   * Returns the number of values that each field has in the tables, those of deleted records
   * included.
   */
  public long slots() {
    return patch == null ? length : patch.slots();
  }

  /** Returns the number of the chunk files. */
  public int chunkCount() {
    return chunks.size();
  }

  /** Returns the bytes of the chunk files, headers included. */
  public long chunkBytes() {
    return chunks.stream().mapToLong(ChunkFile::bytes).sum();
  }

  /** Returns the directory of the shard, relative to the table's. */
  public String directory() {
    return directory(id);
  }

  /** Returns the name of a chunk file of the shard, relative to the table. */
  public String fileOf(ChunkFile chunk) {
    return directoryOf(chunk) + "/" + chunk.fileName();
  }

  /** Returns the directory of a chunk file of the shard, relative to the table. */
  public String directoryOf(ChunkFile chunk) {
    return directory(chunk.ownerIn(this));
  }

  /** Returns the name of a tables file of the shard, relative to the table. */
  public String fileOf(TablesRef file) {
    return directory() + "/" + file.fileName();
  }

  /** Returns the name of the patch of the shard, relative to the table. */
  public String fileOf(PatchRef file) {
    return directory() + "/" + file.fileName();
  }

  private static String directory(UUID shard) {
    return "shard/" + shard;
  }
}
