package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.io.Closing;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/**
 * The files of a shard that is being written in bulk. Collects stripes of values, writes full
 * stripes to the chunk, and closes full chunks. Order of forcing: chunks and tables, then the meta
 * file, then the directories. Belongs to one thread.
 */
public final class ShardFilesWriter implements AutoCloseable {
  private final Storage storage;
  private final String directory;
  private final UUID shardId;
  private final WriteOptions options;
  private final ChunkWriter chunks;
  private final ColumnWriter[] columns;
  private final Stripes stripes;
  private long recordCount;

  /** The sealed shard. */
  public record Sealed(ShardMeta meta, int metaChecksum) {}

  public ShardFilesWriter(
      Storage storage, String directory, UUID shardId, RecordSchema schema, WriteOptions options) {
    this.storage = storage;
    this.directory = directory;
    this.shardId = shardId;
    this.options = options;
    SegmentPool pool = new SegmentPool(options.stripeBytes(), schema.fields().size());
    chunks = new ChunkWriter(storage, directory, shardId, options);
    List<ColumnWriter> writers =
        ColumnWriters.create(storage, directory, shardId, schema, options, chunks, pool);
    columns = writers.toArray(ColumnWriter[]::new);
    stripes = new Stripes(writers, options, pool, chunks);
  }

  public ColumnWriter column(int ordinal) {
    return columns[ordinal];
  }

  public long recordCount() {
    return recordCount;
  }

  /** Tells whether a value was put since the last record ended. */
  public boolean isWithinRecord() {
    for (ColumnWriter column : columns) {
      if (column.isPut()) {
        return true;
      }
    }
    return false;
  }

  /** Returns the bytes in chunk files so far. */
  public long writtenBytes() {
    return chunks.writtenBytes();
  }

  /** Ends the record in every field. Also writes full stripes, and closes a full chunk. */
  public void endRecord() {
    stripes.endRecord(recordCount);
    recordCount++;
  }

  /** Writes the rest and seals the shard. There must be at least one record. */
  public Sealed seal() {
    stripes.flush();
    chunks.roll();
    List<FieldMeta> fields = new ArrayList<>();
    for (ColumnWriter column : columns) {
      fields.add(column.finish(options.durability()));
    }
    ShardMeta meta = new ShardMeta(
        shardId,
        recordCount,
        options.checksum() == Checksum.CRC32C,
        options.chunkBytes(),
        chunks.chunks(),
        fields);
    byte[] file = meta.write();
    if (file.length > SealedJson.MAX_BYTES) {
      throw new IllegalStateException("The shard has " + chunks.chunks().size()
          + " chunks, which makes its meta file of " + file.length + " bytes longer than the "
          + SealedJson.MAX_BYTES
          + " that readers accept; write larger chunks (chunkBytes) or more shards");
    }
    if (options.durability() == Durability.COMMIT && !chunks.chunks().isEmpty()) {
      storage.forceDirectory(directory + "/chunk");
    }
    writeMeta(file);
    if (options.durability() == Durability.COMMIT) {
      storage.forceDirectory(directory);
    }
    return new Sealed(meta, SealedJson.checksum(directory, file));
  }

  @Override
  public void close() {
    List<AutoCloseable> resources = new ArrayList<>(Arrays.asList(columns));
    resources.add(chunks);
    Closing.all(resources);
  }

  private void writeMeta(byte[] bytes) {
    try (WritableFile file = storage.create(directory + "/" + ShardMeta.FILE_NAME)) {
      file.write(ByteBuffer.wrap(bytes));
      if (options.durability() == Durability.COMMIT) {
        file.force();
      }
    }
  }
}
