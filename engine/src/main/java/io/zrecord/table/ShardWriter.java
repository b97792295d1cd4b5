package io.zrecord.table;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.store.ColumnWriter;
import io.zrecord.internal.store.ShardFilesWriter;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkSummary;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Writes one shard in bulk, record by record, in index order. What it wrote is no part of any dataset until a commit names the
 * shard (FORMAT.md section 7); any number of shard writers work side by side.
 *
 * <pre>{@code
 * try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, WriteOptions.defaults())) {
 *   writer.put(0, image, 0, image.length);
 *   writer.putInt(1, label);
 *   writer.endRecord();
 *   Optional<ShardSummary> shard = writer.finish();
 * }
 * }</pre>
 *
 * <p>Memory is bounded by {@link WriteOptions#stripeBytes}; a larger value is written through in pieces, and one of a compressed
 * field needs a buffer of its length. Nothing is allocated for a record. After an exception from the storage the writer refuses
 * further use; {@link #close} then removes what it wrote. Belongs to one thread.
 */
public final class ShardWriter implements AutoCloseable {
  private static final int MAX_CHUNK_GROUPS = 256;

  private final Storage storage;
  private final UUID shardId;
  private final RecordSchema schema;
  private final WriteOptions options;
  private final String directory;
  private @Nullable ShardFilesWriter files;
  private State state = State.OPEN;

  private enum State {
    OPEN,
    FAILED,
    FINISHED,
    CLOSED
  }

  private ShardWriter(Storage storage, UUID shardId, RecordSchema schema, WriteOptions options) {
    this.storage = storage;
    this.shardId = shardId;
    this.schema = schema;
    this.options = options;
    this.directory = "shard/" + shardId;
  }

  /**
   * A writer of a new shard. Files are created with the first record.
   *
   * @param shardId never used before in this storage; choose a new one for every attempt of a task
   */
  public static ShardWriter create(
      Storage storage, UUID shardId, RecordSchema schema, WriteOptions options) {
    return new ShardWriter(storage, shardId, schema, options);
  }

  /** Puts a single element of 1 byte as the value of a field, by its ordinal in the schema; likewise the others. */
  public void putByte(int field, byte value) {
    column(field).putByte(value);
  }

  public void putShort(int field, short value) {
    column(field).putShort(value);
  }

  public void putInt(int field, int value) {
    column(field).putInt(value);
  }

  public void putLong(int field, long value) {
    column(field).putLong(value);
  }

  /** Puts the bits as they are, NaN payloads included. */
  public void putFloat(int field, float value) {
    column(field).putInt(Float.floatToRawIntBits(value));
  }

  /** Puts the bits as they are, NaN payloads included. */
  public void putDouble(int field, double value) {
    column(field).putLong(Double.doubleToRawLongBits(value));
  }

  /**
   * Puts a whole value of any field as little-endian bytes, which are copied.
   *
   * @throws io.zrecord.errors.ValueTooLargeException if the length is not one that the field takes
   * @throws IllegalStateException if the field was put already in this record
   */
  public void put(int field, byte[] source, int offset, int lengthBytes) {
    try {
      column(field).put(source, offset, lengthBytes);
    } catch (ZRecordException e) {
      state = State.FAILED;
      throw e;
    }
  }

  /** Ends the record; fields that were not put are absent. */
  public void endRecord() {
    try {
      files().endRecord();
    } catch (ZRecordException e) {
      state = State.FAILED;
      throw e;
    }
  }

  /** Records ended so far. */
  public long recordCount() {
    return files == null ? 0 : files.recordCount();
  }

  /** Bytes of chunk files written so far. */
  public long writtenBytes() {
    return files == null ? 0 : files.writtenBytes();
  }

  /**
   * Writes what is left and seals the shard, forced to disk if the durability says so.
   *
   * @return what a commit needs to know; empty if there was no record, then nothing was written
   */
  public Optional<ShardSummary> finish() {
    requireOpen();
    if (recordCount() == 0) {
      state = State.CLOSED;
      removeFiles();
      return Optional.empty();
    }
    ShardFilesWriter current = files();
    state = State.FAILED;
    ShardFilesWriter.Sealed sealed = current.seal();
    if (options.durability() == Durability.COMMIT) {
      storage.forceDirectory("shard");
    }
    state = State.FINISHED;
    return Optional.of(summary(sealed.meta(), sealed.metaChecksum()));
  }

  /** Frees buffers; unless the shard was finished, deletes what was written, as far as that is possible. */
  @Override
  public void close() {
    if (state == State.CLOSED) {
      return;
    }
    boolean finished = state == State.FINISHED;
    state = State.CLOSED;
    if (finished) {
      closeFiles();
    } else {
      removeFiles();
    }
  }

  private ShardSummary summary(ShardMeta meta, int metaChecksum) {
    SortedMap<Integer, Long> valueBytes = new TreeMap<>();
    for (FieldMeta field : meta.fields()) {
      valueBytes.put(field.spec().id(), field.valueBytes());
    }
    return new ShardSummary(
        shardId,
        ShardMeta.FILE_NAME,
        metaChecksum,
        meta.length(),
        groups(meta.chunks()),
        valueBytes);
  }

  /** Joins neighbours where there are many, so that a summary stays small whatever the size of the shard. */
  private static List<ChunkSummary> groups(List<ChunkMeta> chunks) {
    int perGroup = (chunks.size() + MAX_CHUNK_GROUPS - 1) / MAX_CHUNK_GROUPS;
    List<ChunkSummary> groups = new ArrayList<>();
    for (int from = 0; from < chunks.size(); from += perGroup) {
      List<ChunkMeta> group = chunks.subList(from, Math.min(chunks.size(), from + perGroup));
      groups.add(new ChunkSummary(
          group.stream().mapToLong(ChunkMeta::recordCount).sum(),
          group.stream().mapToLong(ChunkMeta::endBytes).sum()));
    }
    return groups;
  }

  private ColumnWriter column(int field) {
    return files().column(field);
  }

  private ShardFilesWriter files() {
    requireOpen();
    ShardFilesWriter current = files;
    if (current == null) {
      state = State.FAILED;
      current = new ShardFilesWriter(storage, directory, shardId, schema, options);
      files = current;
      state = State.OPEN;
    }
    return current;
  }

  private void requireOpen() {
    if (state != State.OPEN) {
      throw new IllegalStateException("The writer of shard " + shardId + " is "
          + state.name().toLowerCase(Locale.ROOT) + "; start a new one");
    }
  }

  private void closeFiles() {
    if (files != null) {
      files.close();
    }
  }

  private void removeFiles() {
    try {
      closeFiles();
    } finally {
      storage.delete(directory);
    }
  }
}
