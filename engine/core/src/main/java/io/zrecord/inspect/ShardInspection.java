package io.zrecord.inspect;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.inspect.DatasetFile.Kind;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardPlaces;
import io.zrecord.internal.shard.ShardUse;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Inspects one shard, wherever its files can be read. Each method reads files only when it is
 * called. Immutable and thread-safe.
 */
public final class ShardInspection {
  private final Storage storage;
  private final RecordSchema schema;
  private final ShardSummary shard;
  private final long firstIndex;
  private final boolean isOfStore;

  private ShardInspection(
      Storage storage,
      RecordSchema schema,
      ShardSummary shard,
      long firstIndex,
      boolean isOfStore) {
    this.storage = storage;
    this.schema = schema;
    this.shard = shard;
    this.firstIndex = firstIndex;
    this.isOfStore = isOfStore;
  }

  /**
   * Inspects a shard of a table.
   *
   * @param schema the fields of the version that names the shard; what is stored of other fields is
   *     dead
   * @param firstIndex index of the shard's first record in that version
   */
  public static ShardInspection of(
      Storage storage, RecordSchema schema, ShardSummary shard, long firstIndex) {
    return new ShardInspection(storage, schema, shard, firstIndex, false);
  }

  /**
   * Returns this inspection with chunks named as those of the store of which this shard is a
   * snapshot.
   */
  public ShardInspection atRoot() {
    return new ShardInspection(storage, schema, shard, firstIndex, true);
  }

  /**
   * Reports how well the shard is used. Takes time for its entries, 16 bytes a value of a field
   * that is not dense, and memory for its chunks and fields.
   *
   * @throws CorruptDataException if a table, an entry or a run is damaged, or if values overlap
   * @throws io.zrecord.errors.TruncatedFileException if a table is shorter than it should be
   */
  public ShardUsage usage() {
    try (ShardUse use = OpenShards.shared().use()) {
      return usage(use.get(storage, shard));
    }
  }

  private ShardUsage usage(OpenShard open) {
    ShardTally tally = new ShardTally(open, schema.fields(), this::nameOf);
    try {
      ShardPlaces.visit(open, schema.fields(), tally);
      ShardPlaces.visitUnused(open, schema, tally);
      return tally.usage(firstIndex, schema.fields(), unreadableBytes());
    } catch (ArithmeticException e) {
      String path = storage.pathOf(shard.directory());
      throw new CorruptDataException(
          path,
          "Cannot tell how " + path
              + " is used: sizes or counts in its tables add up to more than 2^63; restore them from a copy",
          e);
    }
  }

  private long unreadableBytes() {
    return schema.unreadable().stream()
        .mapToLong(field -> shard.valueBytes().getOrDefault(field.id(), 0L))
        .reduce(0, Math::addExact);
  }

  /** Lists the files of the shard, including those that are missing. Of a store, lists chunks. */
  public List<DatasetFile> files() {
    List<DatasetFile> files = new ArrayList<>();
    for (ChunkFile chunk : shard.chunks()) {
      files.add(file(nameOf(chunk), shard.fileOf(chunk), Kind.CHUNK));
    }
    if (!isOfStore) {
      for (TablesRef tables : shard.tables()) {
        String name = shard.fileOf(tables);
        files.add(file(name, name, Kind.TABLES));
      }
      PatchRef patch = shard.patch();
      if (patch != null) {
        String name = shard.fileOf(patch);
        files.add(file(name, name, Kind.PATCH));
      }
    }
    return files;
  }

  private String nameOf(ChunkFile chunk) {
    return isOfStore ? ChunkMeta.fileName((int) chunk.storeChunk()) : shard.fileOf(chunk);
  }

  private DatasetFile file(String name, String stored, Kind kind) {
    return new DatasetFile(
        name, kind, Optional.of(shard.id()), TableHistory.lengthBytes(storage, stored));
  }
}
