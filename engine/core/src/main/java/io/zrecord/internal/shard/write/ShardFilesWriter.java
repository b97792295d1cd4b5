package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Origins;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.shard.file.FileIds;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The files of a shard that is being written in bulk. Collects stripes of values, writes full
 * stripes to the chunk, and closes full chunks. Order of forcing: chunks, then the tables file,
 * then the directories. Belongs to one thread.
 */
public final class ShardFilesWriter implements AutoCloseable {
  private final Storage storage;
  private final String directory;
  private final UUID shardId;
  private final UUID seed;
  private final WriteOptions options;
  private final ChunkWriter chunks;
  private final TableSpool spool;
  private final ColumnWriter[] columns;
  private final Stripes stripes;
  private long recordCount;

  /**
   * Begins no file yet.
   *
   * @param seed where the identities of the files come from: the identity of a new shard, or a
   *     random one for fields that are added to a shard
   */
  public ShardFilesWriter(
      Storage storage,
      String directory,
      UUID shardId,
      UUID seed,
      RecordSchema schema,
      WriteOptions options) {
    this.storage = storage;
    this.directory = directory;
    this.shardId = shardId;
    this.seed = seed;
    this.options = options;
    SegmentPool pool = new SegmentPool(options.stripeBytes(), schema.fields().size());
    chunks = new ChunkWriter(storage, directory, shardId, seed, options);
    // A column has two tables: checksums or entries, and validity or checksums.
    spool = new TableSpool(
        storage,
        directory + "/" + seed + ".spool",
        options.stripeBytes() / 8,
        2 * schema.fields().size());
    List<ColumnWriter> writers =
        ColumnWriters.create(shardId, schema, options, chunks, pool, spool);
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

  /** Writes the rest and seals the shard, whose fields get values in all slots. */
  public ShardSummary seal() {
    return seal(Collections.emptySortedMap(), Origins.NONE);
  }

  /**
   * Writes the rest and seals the shard. There must be at least one record.
   *
   * @param since the slots to which the commit gives values, in rising order, of each field that
   *     does not get values in all slots, by id
   * @param origins where records of the shard were before the commit
   */
  public ShardSummary seal(SortedMap<Integer, long[]> since, Origins origins) {
    for (ColumnWriter column : columns) {
      column.endValues();
    }
    stripes.flush();
    chunks.roll();
    for (ColumnWriter column : columns) {
      column.end();
    }
    spool.complete();
    TablesRef tables = writeTables(since, origins);
    spool.close();
    if (options.durability() == Durability.COMMIT) {
      storage.forceDirectory(directory);
    }
    SortedMap<Integer, Long> valueBytes = new TreeMap<>();
    for (ColumnWriter column : columns) {
      valueBytes.put(column.field().id(), column.valueBytes());
    }
    return new ShardSummary(shardId, recordCount, chunks.chunks(), List.of(tables), valueBytes);
  }

  private TablesRef writeTables(SortedMap<Integer, long[]> since, Origins origins) {
    try (TablesWriter writer = new TablesWriter(
        storage,
        directory,
        shardId,
        FileIds.tables(seed),
        recordCount,
        options.checksum() == Checksum.CRC32C)) {
      for (ColumnWriter column : columns) {
        column.finish(writer);
      }
      since.forEach(writer::since);
      writer.origins(origins);
      return writer.seal(chunks.chunks(), options.durability());
    }
  }

  /** Deletes the files that were begun, and no others of the shard. Call this after a close. */
  public void delete() {
    storage.delete(directory + "/" + seed + ".spool");
    storage.delete(directory + "/" + FileIds.tables(seed) + ".tables");
    for (int ordinal = 0; ordinal <= chunks.ordinal(); ordinal++) {
      storage.delete(
          directory + "/" + ChunkFile.of(FileIds.chunk(seed, ordinal), 0).fileName());
    }
  }

  @Override
  public void close() {
    List<AutoCloseable> resources = new ArrayList<>(Arrays.asList(columns));
    resources.add(chunks);
    resources.add(spool);
    Closing.all(resources);
  }
}
