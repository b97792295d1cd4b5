package io.zrecord.inspect;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.inspect.DatasetFile.Kind;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardId;
import io.zrecord.internal.shard.ShardPlaces;
import io.zrecord.internal.shard.ShardUse;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
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
  private final ShardId id;
  private final long firstIndex;
  private final String directory;

  private ShardInspection(
      Storage storage, RecordSchema schema, ShardId id, long firstIndex, String directory) {
    this.storage = storage;
    this.schema = schema;
    this.id = id;
    this.firstIndex = firstIndex;
    this.directory = directory;
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
    ShardId id =
        new ShardId(storage.location(), shard.directory(), shard.metaFile(), shard.metaChecksum());
    return new ShardInspection(storage, schema, id, firstIndex, shard.directory() + "/");
  }

  /** Inspects the shard at the root of a storage. */
  static ShardInspection alone(Storage storage, RecordSchema schema, int metaChecksum) {
    ShardId id = new ShardId(storage.location(), "", ShardMeta.FILE_NAME, metaChecksum);
    return new ShardInspection(storage, schema, id, 0, "");
  }

  /**
   * Returns this inspection with files named as if they were at the root: those of the store of
   * which this shard is a snapshot.
   */
  public ShardInspection atRoot() {
    return new ShardInspection(storage, schema, id, firstIndex, "");
  }

  /**
   * Reports how well the shard is used. Takes time for its entries, 16 bytes a value of a field
   * that is not dense, and memory for its chunks and fields.
   *
   * @throws CorruptDataException if the meta file, an entry or a run is damaged, or if values
   *     overlap
   * @throws io.zrecord.errors.TruncatedFileException if a table is shorter than it should be
   */
  public ShardUsage usage() {
    try (ShardUse use = OpenShards.shared().use()) {
      return usage(use.get(storage, id));
    }
  }

  private ShardUsage usage(OpenShard shard) {
    ShardTally tally = new ShardTally(shard.meta(), schema.fields(), shard::pathOf);
    try {
      ShardPlaces.visit(shard, schema.fields(), tally);
      return tally.usage(directory, firstIndex, schema.fields());
    } catch (ArithmeticException e) {
      throw new CorruptDataException(
          shard.pathOf(id.metaFile()),
          "Cannot tell how " + shard.pathOf(id.metaFile())
              + " is used: sizes or counts in it add up to more than 2^63; restore it from a copy",
          e);
    }
  }

  /**
   * Lists the files of the shard, including those that are missing.
   *
   * @throws CorruptDataException if the meta file is damaged
   */
  public List<DatasetFile> files() {
    ShardMeta meta = meta();
    List<DatasetFile> files = new ArrayList<>();
    files.add(file(meta, id.metaFile(), Kind.META));
    meta.chunks().forEach(chunk -> files.add(file(meta, chunk.fileName(), Kind.CHUNK)));
    for (FieldMeta field : meta.fields()) {
      if (field.layout() == FieldMeta.Layout.RUNS) {
        files.add(file(meta, field.stem() + ".runs", Kind.RUNS));
        if (field.absentCount() > 0) {
          files.add(file(meta, field.stem() + ".valid", Kind.VALIDITY));
        }
      } else {
        files.add(file(meta, field.stem() + ".offset", Kind.ENTRIES));
        if (meta.hasChecksums()) {
          files.add(file(meta, field.stem() + ".crc32c", Kind.CHECKSUMS));
        }
      }
    }
    return files;
  }

  private ShardMeta meta() {
    try (ShardUse use = OpenShards.shared().use()) {
      return use.get(storage, id).meta();
    }
  }

  private DatasetFile file(ShardMeta meta, String name, Kind kind) {
    String stored = id.directory().isEmpty() ? name : id.directory() + "/" + name;
    return new DatasetFile(
        directory + name, kind, Optional.of(meta.id()), TableHistory.lengthBytes(storage, stored));
  }
}
