package io.zrecord.rebalance;

import io.zrecord.RecordDataset;
import io.zrecord.internal.dataset.RewriteSpace;
import io.zrecord.internal.shard.read.BatchBounds;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.StoredBlock;
import io.zrecord.read.StoredBlocks;
import io.zrecord.read.Verification;
import io.zrecord.rebalance.order.OldIndices;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads shards through their tables, verifying every value, and writes their records to new shards,
 * in the same order or in another one. Values that keep their order and already have the
 * compression of the new shards are copied as stored. Written shards are no part of the table until
 * a commit names them.
 *
 * <p>Memory is that of a stripe, outside the heap, and of a batch: for each field at most 16 MiB or
 * one value, and up to three more values for each field that is recompressed. Belongs to one
 * thread.
 */
public final class GroupRewriter implements AutoCloseable {
  private static final int BATCH_RECORDS = 4096;

  /** Records of a batch that is copied in order: several blocks of small values each. */
  private static final int ORDERED_BATCH_RECORDS = 1 << 16;

  /** Values of such a batch, over all fields. */
  private static final int ORDERED_BATCH_VALUES = 1 << 20;

  private final Storage storage;
  private final RecordSchema schema;
  private final RebalanceOptions options;
  private final LongConsumer onRecords;
  private final List<ShardSummary> written = new ArrayList<>();
  private final byte[][] columns;
  private final boolean[] isStored;
  private ShardWriter writer;
  private long leftBytes;
  private boolean isDone;

  /**
   * Creates a rewriter for one group.
   *
   * @param schema the fields, as the new shards have them
   * @param onRecords takes the number of records written since the last call
   */
  public GroupRewriter(
      Storage storage, RecordSchema schema, RebalanceOptions options, LongConsumer onRecords) {
    this.storage = storage;
    this.schema = schema.forCopies();
    this.options = options;
    this.onRecords = onRecords;
    this.columns = new byte[schema.fields().size()][0];
    this.isStored = new boolean[columns.length];
    this.writer = newWriter();
  }

  private ShardWriter newWriter() {
    return ShardWriter.create(storage, schema, options.write());
  }

  /**
   * Rewrites a group.
   *
   * @return the new shards, with the same records in the same order; they belong to the caller,
   *     even after {@link #close}
   * @throws io.zrecord.errors.CorruptDataException if a value is damaged; the group stays as it is
   * @throws io.zrecord.errors.DiskFullException if there is no room for the new shards; nothing was
   *     written
   */
  public List<ShardSummary> rewrite(RebalanceGroup group) {
    WritableShards.require(storage, group.shards());
    RewriteSpace.TABLE.require(storage, keptBytes(group));
    leftBytes = group.valueBytes();
    for (ShardSummary shard : group.shards()) {
      copy(shard);
      leftBytes -= RebalanceGroup.valueBytes(shard);
    }
    // All shards of a group are of one partition.
    List<@Nullable String> partition = group.shards().get(0).partition();
    return finished().stream().map(shard -> shard.withPartition(partition)).toList();
  }

  /**
   * Writes records of a version in a new order.
   *
   * @param source the version; the rewriter makes readers of its own
   * @param order the arrangement of the records
   * @param range the new indices of the records to write
   * @return the new shards; they belong to the caller, even after {@link #close}
   * @throws io.zrecord.errors.CorruptDataException if a value is damaged
   */
  public List<ShardSummary> gather(
      RecordDataset source, OldIndices order, RelayoutPlan.Range range) {
    List<FieldReader> readers = readers(source);
    long[] indices = new long[BATCH_RECORDS];
    int most = BATCH_RECORDS;
    for (long index = range.from(); index < range.to(); ) {
      int count = (int) Math.min(most, range.to() - index);
      order.oldIndices(index, indices, count);
      count = select(readers, indices, count);
      write(readers, List.of(), 0, count);
      index += count;
      onRecords.accept(count);
      // Values are long: the next batch does not start from far too many records again.
      most = Math.min(BATCH_RECORDS, 2 * count);
      // A range is about a shard long: cutting exactly at the target size would leave many small
      // rests.
      beginShardIf(writer.writtenBytes() / 2 >= options.targetShardBytes());
    }
    return finished();
  }

  /** Selects the first of the given records in all fields, as many as fit a batch. */
  private static int select(List<FieldReader> readers, long[] indices, int most) {
    int count = most;
    while (true) {
      long longest = 0;
      for (FieldReader reader : readers) {
        reader.select(indices, 0, count);
        longest = Math.max(longest, reader.totalLengthBytes());
      }
      if (count == 1 || longest <= 4 * BatchBounds.STORED_BYTES) {
        return count;
      }
      count /= 2;
    }
  }

  private List<FieldReader> readers(RecordDataset source) {
    return schema.fields().stream().map(field -> source.reader(field.name())).toList();
  }

  /** Returns the readers of one shard; they read stored bytes where these can be taken over. */
  private List<FieldReader> storedReaders(RecordDataset source) {
    List<FieldReader> readers = new ArrayList<>();
    for (FieldSpec field : schema.fields()) {
      Optional<FieldReader> stored = source.storedReader(field.name(), field.compression());
      isStored[readers.size()] = stored.isPresent();
      readers.add(stored.orElseGet(() -> source.reader(field.name())));
    }
    return readers;
  }

  /**
   * Returns the stored bytes of the values that stay as they are. The size of recompressed values
   * is unknown.
   */
  private long keptBytes(RebalanceGroup group) {
    long bytes = 0;
    for (FieldSpec field : schema.fields()) {
      if (!options.compression().containsKey(field.name())) {
        bytes += group.shards().stream()
            .mapToLong(shard -> shard.valueBytes().getOrDefault(field.id(), 0L))
            .sum();
      }
    }
    return bytes;
  }

  private void copy(ShardSummary shard) {
    // Stored values get new checksums, and a value that this process once verified may be damaged
    // since.
    RecordDataset.ReadOptions reading =
        new RecordDataset.ReadOptions(Verification.ALWAYS, new ReadMetrics());
    try (RecordDataset source = RecordDataset.openShard(storage, schema, shard, reading)) {
      List<FieldReader> readers = storedReaders(source);
      List<StoredBlocks> blocks = schema.fields().stream()
          .map(field -> source.storedBlocks(field.name(), field.compression()))
          .toList();
      int most = Math.max(
          BATCH_RECORDS,
          Math.min(ORDERED_BATCH_RECORDS, ORDERED_BATCH_VALUES / Math.max(1, readers.size())));
      long index = 0;
      while (index < source.length()) {
        int count =
            BatchBounds.select(readers, index, (int) Math.min(most, source.length() - index));
        write(readers, blocks, index, count);
        index += count;
        onRecords.accept(count);
        // A small last shard would never be merged, because its neighbours are large enough.
        long restBytes = (long)
            (leftBytes - RebalanceGroup.valueBytes(shard) * ((double) index / shard.length()));
        beginShardIf(writer.writtenBytes() >= options.targetShardBytes()
            && restBytes >= options.targetShardBytes() / 2);
      }
    }
  }

  private void beginShardIf(boolean isFull) {
    if (isFull) {
      finishShard();
      writer = newWriter();
    }
  }

  /**
   * Writes the selected records.
   *
   * @param blocks of each field, in the order of the records; empty if there are none
   * @param first index of the first record in these blocks
   */
  private void write(List<FieldReader> readers, List<StoredBlocks> blocks, long first, int count) {
    int[] blockEnds = new int[readers.size()];
    int[] positions = new int[readers.size()];
    for (int field = 0; field < readers.size(); field++) {
      FieldReader reader = readers.get(field);
      int bytes = Math.toIntExact(reader.totalLengthBytes());
      if (columns[field].length < bytes) {
        // The shorter array may go before the longer one exists.
        columns[field] = new byte[0];
        columns[field] = new byte[bytes];
      }
      reader.copyAll(columns[field], 0);
    }
    for (int i = 0; i < count; i++) {
      for (int field = 0; field < positions.length; field++) {
        FieldReader reader = readers.get(field);
        boolean isAbsent = reader.hasAbsent() && reader.isAbsent(i);
        int width = isStored[field] ? -1 : reader.field().valueWidthBytes().orElse(-1);
        int length = width >= 0 ? width : reader.lengthBytes(i);
        if (!blocks.isEmpty() && i >= blockEnds[field]) {
          blockEnds[field] = putBlock(field, blocks.get(field), first, i, count);
        }
        if (i < blockEnds[field]) {
          if (!isAbsent) {
            writer.putOfBlock(field, columns[field], positions[field], length);
          }
        } else if (!isAbsent && isStored[field]) {
          writer.putStored(field, columns[field], positions[field], length);
        } else if (!isAbsent) {
          writer.put(field, columns[field], positions[field], length);
        }
        positions[field] += length;
      }
      writer.endRecord();
    }
  }

  /**
   * Puts the block that begins with a record, if all its records are in the batch.
   *
   * @return the record after the block, or the same record if no block was put
   */
  private int putBlock(int field, StoredBlocks blocks, long first, int record, int count) {
    StoredBlock block = blocks.beginningAt(first + record);
    boolean isPut =
        block != null && block.count() <= count - record && writer.putBlock(field, block);
    return block != null && isPut ? record + block.count() : record;
  }

  private List<ShardSummary> finished() {
    finishShard();
    isDone = true;
    return List.copyOf(written);
  }

  private void finishShard() {
    writer.finish().ifPresent(written::add);
    writer.close();
  }

  /** Deletes the written shards, unless the group or the range was written to its end. */
  @Override
  public void close() {
    writer.close();
    if (!isDone) {
      for (ShardSummary shard : written) {
        storage.delete(shard.directory());
      }
    }
  }
}
