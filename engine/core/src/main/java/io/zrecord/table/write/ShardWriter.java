package io.zrecord.table.write;

import io.zrecord.internal.format.Origins;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.write.ShardFilesWriter;
import io.zrecord.internal.values.ValueBytes;
import io.zrecord.read.StoredBlock;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Writes one shard in bulk, record by record, in index order. The shard is no part of a dataset
 * until a commit names it (FORMAT.md section 7). Any number of shard writers work side by side.
 *
 * <pre>{@code
 * UUID id = UUID.randomUUID();
 * try (ShardWriter writer = ShardWriter.create(storage, id, schema, WriteOptions.defaults())) {
 *   writer.put(0, image, 0, image.length);
 *   writer.putInt(1, label);
 *   writer.endRecord();
 *   Optional<ShardSummary> shard = writer.finish();
 * }
 * }</pre>
 *
 * <p>{@link WriteOptions#stripeBytes} bounds the memory. A larger value is written through in
 * pieces, and a larger value of a compressed field needs a buffer of its length. Nothing is
 * allocated for a record. After any exception the writer refuses further use, and {@link #close}
 * removes its files. Belongs to one thread.
 */
public final class ShardWriter implements ValueSink, AutoCloseable {
  private final Storage storage;
  private final UUID shardId;
  private final Optional<ShardSummary> existing;
  /** Slots of the shard that is there which get no value; null if there are none. */
  private final @Nullable RankedBitmap deleted;

  private final RecordSchema schema;
  private final WriteOptions options;
  private final String directory;
  private final int[] required;
  /** Values of the required fields in deleted slots. */
  private final byte[][] shortest;

  private final @Nullable PartitionCheck partition;
  /** Whether the id is new for certain, so that nobody needs to ask for the directory. */
  private final boolean isNewId;

  private @Nullable ShardFilesWriter files;
  private boolean ownsFiles;
  private State state = State.OPEN;

  private SortedMap<Integer, long[]> since = Collections.emptySortedMap();
  private final Origins.Builder origins = new Origins.Builder();

  /** Whether an operation began and did not end well. No reference, whose store costs a barrier. */
  private boolean isBroken;

  private enum State {
    OPEN,
    FINISHED,
    CLOSED
  }

  private ShardWriter(
      Storage storage,
      UUID shardId,
      Optional<ShardSummary> existing,
      RecordSchema schema,
      WriteOptions options,
      @Nullable PartitionCheck partition,
      boolean isNewId) {
    this.isNewId = isNewId;
    this.storage = storage;
    this.shardId = shardId;
    this.existing = existing;
    this.deleted = existing.map(shard -> deleted(storage, shard)).orElse(null);
    this.schema = schema;
    this.options = options;
    this.partition = partition;
    this.directory = "shard/" + shardId;
    this.required = IntStream.range(0, schema.fields().size())
        .filter(i -> !schema.fields().get(i).rules().isNullable())
        .toArray();
    this.shortest = deleted == null
        ? new byte[0][]
        : IntStream.of(required)
            .mapToObj(i -> ValueBytes.shortest(schema.fields().get(i)))
            .toArray(byte[][]::new);
  }

  private static @Nullable RankedBitmap deleted(Storage storage, ShardSummary shard) {
    PatchFile patch = OpenShards.unshared(storage, shard).patch();
    return patch == null ? null : patch.deleted();
  }

  /**
   * Returns a writer of a new shard. Files are created with the first record.
   *
   * @param shardId an id never used before in this storage; choose a new one for every attempt of a
   *     task. If its directory exists, the first value is refused with an
   *     {@link IllegalStateException}, and the directory is left alone
   */
  public static ShardWriter create(
      Storage storage, UUID shardId, RecordSchema schema, WriteOptions options) {
    return new ShardWriter(storage, shardId, Optional.empty(), schema, options, null, false);
  }

  /**
   * Returns a writer of a new shard with a random id. Files are created with the first record, and
   * the storage is not asked whether the name is free.
   */
  public static ShardWriter create(Storage storage, RecordSchema schema, WriteOptions options) {
    return new ShardWriter(
        storage, UUID.randomUUID(), Optional.empty(), schema, options, null, true);
  }

  /**
   * Returns a writer of a new shard of one partition. A record with another value of a partition
   * field is refused with an {@link IllegalArgumentException}. Stored values and blocks are not
   * looked into: copy them from shards of the same partition.
   *
   * @param shardId as for the other method
   * @param partitionFields ids of the partition fields of the table, in their order
   * @param partition value of each of them, as {@link PartitionText} has it; null for an absent
   *     value
   * @throws IllegalArgumentException if a text is not the one of a value of its field
   */
  public static ShardWriter create(
      Storage storage,
      UUID shardId,
      RecordSchema schema,
      WriteOptions options,
      List<Integer> partitionFields,
      List<@Nullable String> partition) {
    return new ShardWriter(
        storage,
        shardId,
        Optional.empty(),
        schema,
        options,
        new PartitionCheck(schema, partitionFields, partition),
        false);
  }

  /**
   * Returns a writer of some fields of a shard that is there. Files are added to the shard's
   * directory, and no other file is touched. End as many records as the shard has. Leave out
   * records that were deleted since the tables of the shard were written.
   *
   * @param schema the fields to write, with their ids
   */
  public static ShardWriter ofFields(
      Storage storage, ShardSummary shard, RecordSchema schema, WriteOptions options) {
    return new ShardWriter(storage, shard.id(), Optional.of(shard), schema, options, null, false);
  }

  /**
   * Says to which slots of the shard that is there the commit gives values; otherwise it is to all.
   * Whoever asks what the commit changed is told so.
   *
   * @param slots slots in rising order, by the id of the field
   */
  public ShardWriter since(SortedMap<Integer, long[]> slots) {
    since = slots;
    return this;
  }

  /**
   * Says that the current record was in another shard, from which the same commit deletes it: the
   * record of a table that got the value of another partition. Takes 20 bytes of memory. Call this
   * before {@link #endRecord}.
   *
   * @param shard identity of the other shard
   * @param slot as {@link io.zrecord.table.ShardChangeWriter#slotOf} returns it
   * @throws IllegalArgumentException if the slot is negative
   * @throws IllegalStateException if this writes fields of a shard that is there, or 2^24 records
   *     of the shard were moved: write more shards
   */
  public void movedFrom(UUID shard, long slot) {
    requireOpen();
    if (slot < 0) {
      throw new IllegalArgumentException("Record " + recordCount() + " cannot have been in slot "
          + slot + " of shard " + shard + "; slots are 0 or more");
    }
    if (origins.count() == Origins.MOST && origins.lastSlot() != recordCount()) {
      throw new IllegalStateException("Shard " + shardId + " has " + Origins.MOST
          + " records that were elsewhere, and takes no more; write more shards");
    }
    if (existing.isPresent()) {
      throw new IllegalStateException("Records of shard " + shardId + " stay where they are; say"
          + " where records were when they are written to another shard");
    }
    origins.add(recordCount(), shard, slot);
  }

  /**
   * Puts a single element of 1 byte as the value of a field. The field is given by its ordinal in
   * the schema, here and in all other methods.
   */
  @Override
  public void putByte(int field, byte value) {
    begin().column(field).putByte(value);
    requirePartition(field, value, Byte.BYTES);
    isBroken = false;
  }

  @Override
  public void putShort(int field, short value) {
    begin().column(field).putShort(value);
    requirePartition(field, value, Short.BYTES);
    isBroken = false;
  }

  @Override
  public void putInt(int field, int value) {
    begin().column(field).putInt(value);
    requirePartition(field, value, Integer.BYTES);
    isBroken = false;
  }

  @Override
  public void putLong(int field, long value) {
    begin().column(field).putLong(value);
    requirePartition(field, value, Long.BYTES);
    isBroken = false;
  }

  /**
   * Puts a whole value of any field as little-endian bytes, which are copied. The bytes of a nested
   * value come from {@link io.zrecord.nested.NestedColumn}; what they consist of is not checked.
   *
   * @throws io.zrecord.errors.ValueTooLargeException if the field does not take values of this
   *     length
   * @throws IllegalStateException if the field was put already in this record
   */
  @Override
  public void put(int field, byte[] source, int offset, int lengthBytes) {
    begin().column(field).put(source, offset, lengthBytes);
    if (partition != null && partition.has(field)) {
      partition.require(field, source, offset, lengthBytes);
    }
    isBroken = false;
  }

  /**
   * Puts the stored bytes of another shard's value with the same codec, from
   * {@link io.zrecord.RecordDataset#storedReader}. The bytes are copied, without a check that they
   * can be decoded.
   *
   * @throws IllegalArgumentException if the field is not compressed, or there are fewer than 4
   *     bytes
   * @throws IllegalStateException if the field was put already in this record
   */
  public void putStored(int field, byte[] source, int offset, int lengthBytes) {
    begin().column(field).putStored(source, offset, lengthBytes);
    isBroken = false;
  }

  /**
   * Puts a block of values of another shard that is already compressed, from
   * {@link io.zrecord.RecordDataset#storedBlocks}, instead of the values of this and the next
   * records. For each of these records call {@link #putOfBlock}, unless the value is absent, and
   * {@link #endRecord}. The bytes of the block are copied.
   *
   * @return {@code false} if the field is not written in such blocks, or the block is short; then
   *     nothing was put
   * @throws IllegalArgumentException if the values of the block have another width than the field
   */
  public boolean putBlock(int field, StoredBlock block) {
    boolean isPut = begin().column(field).putBlock(block);
    isBroken = false;
    return isPut;
  }

  /**
   * Puts the value of the current record that is in the block which was put last. The bytes are not
   * written, but enter the statistics of the field.
   *
   * @param source the value as it is in the block, decoded and little-endian; not kept
   * @throws IllegalStateException if there is no such block, or all its records have ended
   */
  public void putOfBlock(int field, byte[] source, int offset, int length) {
    begin().column(field).putOfBlock(source, offset, length);
    isBroken = false;
  }

  private void requirePartition(int field, long bits, int lengthBytes) {
    if (partition != null && partition.has(field)) {
      partition.require(field, bits, lengthBytes);
    }
  }

  /**
   * Ends the record. Fields that were not put are absent.
   *
   * @throws IllegalStateException if values of such a field may not be absent
   */
  public void endRecord() {
    ShardFilesWriter current = begin();
    for (int field : required) {
      if (!current.column(field).isPut()) {
        throw new IllegalStateException("Field '" + schema.fields().get(field).name()
            + "' of record " + current.recordCount()
            + " was not put, but its values may not be absent; put a value, or let the field be"
            + " absent (nullable)");
      }
    }
    if (partition != null) {
      for (int field = 0; field < schema.fields().size(); field++) {
        if (partition.has(field) && !current.column(field).isPut()) {
          partition.requireAbsent(field);
        }
      }
    }
    current.endRecord();
    endDeleted(current);
    isBroken = false;
  }

  /**
   * Ends the deleted slots up to the next record. Nobody reads their values: the shortest value of
   * a field that is never absent, and no value of other fields.
   */
  private void endDeleted(ShardFilesWriter current) {
    while (deleted != null && deleted.contains(current.recordCount())) {
      for (int i = 0; i < required.length; i++) {
        current.column(required[i]).put(shortest[i], 0, shortest[i].length);
      }
      current.endRecord();
    }
  }

  /** Returns the number of records ended so far. */
  @Override
  public long recordCount() {
    long slots = files == null ? 0 : files.recordCount();
    return deleted == null ? slots : slots - deleted.rank(slots);
  }

  /** Returns the bytes of chunk files written so far. */
  public long writtenBytes() {
    return files == null ? 0 : files.writtenBytes();
  }

  /**
   * Writes the rest and seals the shard. Files are forced to disk if the durability says so.
   *
   * @return the summary for a commit; empty if there was no record, and then nothing was written.
   *     Of fields of a shard that is there, the summary names the new files and fields only
   * @throws IllegalStateException if values were put after the last record ended, or the shard that
   *     is there has another number of records
   */
  public Optional<ShardSummary> finish() {
    requireOpen();
    if (origins.lastSlot() >= recordCount()) {
      throw new IllegalStateException(
          "Shard " + shardId + " was told where record " + origins.lastSlot()
              + " was, which was not ended; call endRecord() after its last value");
    }
    ShardFilesWriter current = files;
    if (current == null) {
      state = State.CLOSED;
      return Optional.empty();
    }
    requireLength(recordCount());
    isBroken = true;
    if (current.isWithinRecord()) {
      throw new IllegalStateException("The record " + current.recordCount() + " of shard " + shardId
          + " was not ended; call endRecord() after its last value");
    }
    ShardSummary sealed = current.seal(since, origins.build());
    if (partition != null) {
      sealed = sealed.withPartition(partition.texts());
    }
    if (options.durability() == Durability.COMMIT && existing.isEmpty()) {
      storage.forceDirectory("shard");
    }
    isBroken = false;
    state = State.FINISHED;
    return Optional.of(sealed);
  }

  private void requireLength(long recordCount) {
    if (existing.isPresent() && existing.get().length() != recordCount) {
      throw new IllegalStateException(
          "Shard " + shardId + " has " + existing.get().length()
              + " records, but " + recordCount
              + " were written; end a record for each, also where a value is absent");
    }
  }

  /** Closes the files. Unless the shard was finished, also deletes them as far as possible. */
  @Override
  public void close() {
    if (state == State.CLOSED) {
      return;
    }
    boolean finished = state == State.FINISHED;
    state = State.CLOSED;
    try {
      if (files != null) {
        files.close();
      }
    } catch (RuntimeException e) {
      if (finished) {
        throw e;
      }
      LoggerFactory.getLogger(ShardWriter.class)
          .debug("Cannot close a file of the unfinished shard {}", directory, e);
    }
    if (!finished && ownsFiles) {
      removeFiles();
    }
  }

  /**
   * Marks the writer as broken until the operation succeeds. An exception then ends the writer,
   * because part of a record may be written.
   */
  private ShardFilesWriter begin() {
    requireOpen();
    isBroken = true;
    ShardFilesWriter current = files;
    if (current == null) {
      current = createFiles();
      files = current;
      endDeleted(current);
    }
    return current;
  }

  private ShardFilesWriter createFiles() {
    if (existing.isPresent()) {
      ownsFiles = true;
      return new ShardFilesWriter(storage, directory, shardId, UUID.randomUUID(), schema, options);
    }
    if (!isNewId && storage.exists(directory)) {
      throw new IllegalStateException("Cannot write shard " + shardId + ": "
          + storage.pathOf(directory) + " exists; choose a new random id for every attempt");
    }
    // From here on, files in the directory may be deleted.
    ownsFiles = true;
    return new ShardFilesWriter(storage, directory, shardId, shardId, schema, options);
  }

  private void requireOpen() {
    if (isBroken || state != State.OPEN) {
      String reason = switch (state) {
        case OPEN -> "failed before";
        case FINISHED -> "is finished";
        case CLOSED -> "is closed";
      };
      throw new IllegalStateException(
          "The writer of shard " + shardId + " " + reason + "; start a new one");
    }
  }

  private void removeFiles() {
    try {
      if (existing.isEmpty()) {
        storage.delete(directory);
      } else if (files != null) {
        files.delete();
      }
    } catch (RuntimeException e) {
      // No manifest names the directory, so a sweep of the table finds it.
      LoggerFactory.getLogger(ShardWriter.class)
          .warn(
              "Cannot delete the unfinished shard {}: {}",
              storage.pathOf(directory),
              e.getMessage());
    }
  }
}
