package io.zrecord.internal.shard;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.read.ReadMetrics;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.UnreadableField;
import io.zrecord.storage.Storage;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A sealed shard open for reading (FORMAT.md section 3): the meta file, and everything that readers
 * needed of the shard so far. Files are opened at first use, and a failure is not remembered. Holds
 * the verified bits, so one object serves all readers of the process. Thread-safe.
 */
public final class OpenShard {
  private static final Pattern META_NAME = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}");

  private final Storage storage;
  private final ShardId id;
  private final Runnable onMapped;
  private final Map<Integer, OpenField> fields = new ConcurrentHashMap<>();
  private volatile @Nullable Contents contents;

  /** The meta file and the chunks that it names. */
  private record Contents(ShardMeta meta, AtomicReferenceArray<OpenChunk> chunks) {}

  OpenShard(Storage storage, ShardId id, Runnable onMapped) {
    this.storage = storage;
    this.id = id;
    this.onMapped = onMapped;
  }

  /** Returns the meta file. */
  public ShardMeta meta() {
    return contents().meta;
  }

  /**
   * Checks the shard against a manifest.
   *
   * @throws CorruptDataException if the shard has another id or another length
   */
  public void requireIs(UUID shardId, long length) {
    if (!meta().id().equals(shardId) || meta().length() != length) {
      throw new CorruptDataException(
          metaPath(),
          "Cannot read " + metaPath() + ": it is of shard " + meta().id() + " with "
              + meta().length() + " records, but the manifest says shard " + shardId + " with "
              + length
              + ". Restore it from a copy");
    }
  }

  /** Forgets this open shard, so that the next user opens the files again. */
  public void forget() {
    OpenShards.shared().drop(id);
  }

  /** Returns the field with the id of {@code spec}; an absent field if the shard lacks it. */
  public OpenField field(FieldSpec spec) {
    OpenField field = fields.get(spec.id());
    return field != null ? field : fields.computeIfAbsent(spec.id(), fieldId -> open(spec));
  }

  private OpenField open(FieldSpec spec) {
    for (FieldMeta field : meta().fields()) {
      if (field.spec().id() == spec.id()) {
        if (!field.spec().type().equals(spec.type())
            || !field.spec().shape().equals(spec.shape())) {
          throw new CorruptDataException(
              metaPath(),
              "Cannot read " + metaPath() + ": field " + spec.id() + " is "
                  + field.spec().type() + field.spec().shape() + " here, but the dataset says "
                  + spec.type() + spec.shape());
        }
        return field.layout() == FieldMeta.Layout.RUNS
            ? DenseField.open(this, field)
            : EntryField.open(this, field);
      }
    }
    for (UnreadableField field : meta().unreadable()) {
      if (field.id() == spec.id()) {
        throw field.exception(metaPath());
      }
    }
    return new AbsentField();
  }

  /** Opens a file of the shard with {@code endBytes} published bytes. */
  Windows open(String name, long endBytes) {
    return new Windows(storage.open(prefix() + name), endBytes, onMapped);
  }

  byte[] read(String name, int maxBytes) {
    return storage.read(prefix() + name, maxBytes);
  }

  /** Returns the full path of a file of the shard. */
  public String pathOf(String name) {
    return storage.pathOf(prefix() + name);
  }

  public List<ChunkMeta> chunks() {
    return meta().chunks();
  }

  /** Returns the ordinal of a chunk in {@link #chunks}, or -1 if the shard has no such chunk. */
  int chunkOrdinal(int chunkId) {
    List<ChunkMeta> chunks = chunks();
    if (chunkId >= 0 && chunkId < chunks.size() && chunks.get(chunkId).id() == chunkId) {
      return chunkId;
    }
    int low = 0;
    int high = chunks.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int order = Integer.compareUnsigned(chunks.get(middle).id(), chunkId);
      if (order == 0) {
        return middle;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -1;
  }

  public OpenChunk chunk(int ordinal, ReadMetrics metrics) {
    AtomicReferenceArray<OpenChunk> chunks = contents().chunks;
    OpenChunk chunk = chunks.getAcquire(ordinal);
    if (chunk == null) {
      metrics.chunksOpened.increment();
      OpenChunk opened =
          OpenChunk.open(storage, prefix(), meta().id(), meta().chunks().get(ordinal), onMapped);
      chunk = chunks.compareAndSet(ordinal, null, opened) ? opened : chunks.getAcquire(ordinal);
    }
    return chunk;
  }

  /**
   * Looks for a file that was cut while it was mapped.
   *
   * @throws TruncatedFileException if there is such a file
   */
  public void requireWholeFiles(InternalError error) {
    for (ChunkMeta chunk : chunks()) {
      requireWhole(chunk.fileName(), chunk.endBytes(), error);
    }
    long length = meta().length();
    for (FieldMeta field : meta().fields()) {
      if (field.layout() == FieldMeta.Layout.ENTRIES) {
        requireWhole(field.stem() + ".offset", length * Entry.BYTES, error);
        if (meta().hasChecksums()) {
          requireWhole(field.stem() + ".crc32c", length * Integer.BYTES, error);
        }
      } else if (field.absentCount() > 0) {
        requireWhole(field.stem() + ".valid", (length + 7) / 8, error);
      }
    }
  }

  private void requireWhole(String name, long endBytes, InternalError error) {
    if (storage.exists(prefix() + name) && storage.lengthBytes(prefix() + name) < endBytes) {
      throw new TruncatedFileException(
          pathOf(name),
          "Cannot read " + pathOf(name) + ": it was cut while it was read, to fewer than "
              + endBytes + " bytes. Restore it from a copy",
          error);
    }
  }

  private Contents contents() {
    Contents current = contents;
    if (current == null) {
      ShardMeta meta = readMeta();
      synchronized (this) {
        current = contents;
        if (current == null) {
          current = new Contents(meta, new AtomicReferenceArray<>(meta.chunks().size()));
          contents = current;
        }
      }
    }
    return current;
  }

  private ShardMeta readMeta() {
    if (!META_NAME.matcher(id.metaFile()).matches()) {
      throw new CorruptDataException(
          storage.pathOf(id.directory()),
          "Cannot read shard " + storage.pathOf(id.directory()) + ": its meta file is named '"
              + id.metaFile() + "', which is not allowed");
    }
    byte[] file = storage.read(prefix() + id.metaFile(), SealedJson.MAX_BYTES);
    ShardMeta meta = ShardMeta.read(metaPath(), file);
    int checksum = SealedJson.checksum(metaPath(), file);
    if (checksum != id.metaChecksum()) {
      throw new CorruptDataException(
          metaPath(),
          "Cannot read " + metaPath() + ": its checksum is "
              + HexFormat.of().toHexDigits(checksum) + ", but the dataset was opened with "
              + HexFormat.of().toHexDigits(id.metaChecksum())
              + ". It was replaced; restore it from a copy");
    }
    return meta;
  }

  private String metaPath() {
    return pathOf(id.metaFile());
  }

  private String prefix() {
    return id.directory().isEmpty() ? "" : id.directory() + "/";
  }
}
