package io.zrecord.internal.shard;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.BlockRecord;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.VariableBlocks;
import io.zrecord.internal.io.MapFaults;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.FixedRuns;
import io.zrecord.internal.shard.layout.OpenField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.PresenceBits;
import io.zrecord.internal.shard.layout.VariableField;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Promotions;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds where the values of a sealed shard are, without reading the values. Entries are read in
 * blocks of records, and every entry is checked before it is passed on. The block bounds the
 * memory. Belongs to one thread.
 */
public final class ShardPlaces {
  private static final int MAX_BLOCK_RECORDS = 1 << 16;
  private static final int MIN_BLOCK_RECORDS = 1 << 8;

  /** Values whose chunk a block remembers, over all fields. */
  private static final int BLOCK_VALUES = 1 << 20;

  private static final int ABSENT = -1;

  private final OpenShard shard;
  private final List<FieldSpec> fields;
  private final Visitor visitor;
  private final List<OpenField> open = new ArrayList<>();
  private final List<Superseded> superseded = new ArrayList<>();

  /** Takes the places of values. The places of a field come in index order. */
  public interface Visitor {
    /**
     * Takes values that follow each other without a gap.
     *
     * @param field ordinal of the field in the requested list
     * @param chunk ordinal of the chunk in the shard
     * @param offset position of the first byte; the last byte is within the chunk
     * @param paddingBytes bytes after the values up to the next multiple of 8, unless values of the
     *     same run follow
     */
    void values(
        int field, int chunk, long offset, long valueCount, int lengthBytes, int paddingBytes);

    /**
     * Takes a block of values that are compressed together.
     *
     * @param valueCount slots of the block, absent values included
     * @param paddingBytes bytes after the block up to the next multiple of 8, unless another block
     *     of the same run follows
     */
    void block(
        int field, int chunk, long offset, int valueCount, int storedBytes, int paddingBytes);

    /** Takes a value that was changed since the tables were written. */
    void changed(int field, int chunk, int lengthBytes, int paddingBytes);

    /**
     * Takes values of deleted records, and values that were replaced. Those in compressed blocks
     * are taken as a part of the block instead.
     */
    void superseded(int chunk, long bytes);

    /**
     * Takes the number of records with a value in a chunk that a store wrote, each record once a
     * chunk. Not called for a shard that was written in bulk, whose chunks have parts of records.
     */
    void records(int chunk, long count);
  }

  private ShardPlaces(OpenShard shard, List<FieldSpec> fields, Visitor visitor) {
    this.shard = shard;
    this.fields = fields;
    this.visitor = visitor;
  }

  /**
   * Visits the values of some fields of a shard.
   *
   * @throws io.zrecord.errors.CorruptDataException if an entry or a run is not within a chunk, or a
   *     field is of another type
   * @throws io.zrecord.errors.TruncatedFileException if a table is too short
   */
  public static void visit(OpenShard shard, List<FieldSpec> fields, Visitor visitor) {
    try {
      try {
        new ShardPlaces(shard, fields, visitor).visit();
      } finally {
        // Also before an exception is passed on: missing entries look like damage.
        MapFaults.surface();
      }
    } catch (InternalError e) {
      shard.requireWholeFiles(e);
      throw e;
    }
  }

  /**
   * Visits the values of fields that were dropped or written again, as superseded ones. Those that
   * a store wrote are passed over: what is not alive in the chunks of a store is dead.
   *
   * @param schema the fields of the dataset
   */
  public static void visitUnused(OpenShard shard, RecordSchema schema, Visitor visitor) {
    Set<Integer> ids = new HashSet<>();
    schema.fields().forEach(field -> ids.add(field.id()));
    schema.unreadable().forEach(field -> ids.add(field.id()));
    try {
      try {
        shard.visitUnused(ids::contains, (file, field) -> visitUnused(shard, file, field, visitor));
      } finally {
        MapFaults.surface();
      }
    } catch (InternalError e) {
      shard.requireWholeFiles(e);
      throw e;
    }
  }

  private static void visitUnused(
      OpenShard shard, TablesFile file, FieldTables field, Visitor visitor) {
    for (RunRecord run : file.runs(field)) {
      if (run.kind() == RunRecord.Kind.ENTRY) {
        visitUnusedEntries(shard, file, field, visitor);
      } else {
        supersede(shard, file, run.chunk(), run.bytes(), visitor);
      }
    }
  }

  private static void visitUnusedEntries(
      OpenShard shard, TablesFile file, FieldTables field, Visitor visitor) {
    if (file.json().chunks().stream().allMatch(ChunkFile::isOfStore)) {
      return;
    }
    EntryField entries = EntryField.open(file, field, new Binding(shard.id(), field.id()));
    for (long slot = 0; slot < shard.slots(); slot++) {
      long word0 = entries.word0(slot);
      long word1 = entries.word1(slot);
      if (!Entry.isAbsent(word0, word1)) {
        int chunk = entries.chunkOf(slot, word0, word1);
        supersede(shard, file, chunk, Entry.physicalLength(word1), visitor);
      }
    }
  }

  /** Takes bytes of a chunk, if the shard still has the chunk. */
  private static void supersede(
      OpenShard shard, TablesFile file, int ordinal, long bytes, Visitor visitor) {
    int chunk = file.shardChunks()[ordinal];
    if (chunk != TablesFile.NO_CHUNK && !shard.chunks().get(chunk).isOfStore()) {
      visitor.superseded(chunk, bytes);
    }
  }

  /** Returns a field as the shard has it: its type may have been promoted since. */
  public static FieldSpec stored(OpenShard shard, FieldSpec field) {
    return shard
        .tablesOf(field.id())
        .filter(tables -> Promotions.allows(tables.type(), field.type()))
        .map(tables -> field.withRules(FieldRules.NONE).withType(tables.type()))
        .orElse(field);
  }

  private void visit() {
    for (FieldSpec field : fields) {
      open.add(shard.field(stored(shard, field)));
      superseded.add(Superseded.of(shard, field));
    }
    for (int field = 0; field < fields.size(); field++) {
      if (open.get(field) instanceof FixedRuns runs) {
        visitRuns(field, runs);
      } else if (open.get(field) instanceof BlockField blocks) {
        visitBlocks(field, blocks);
      } else if (open.get(field) instanceof VariableField runs) {
        visitRuns(field, runs);
      }
    }
    PatchFile patch = shard.patch();
    for (int field = 0; patch != null && field < fields.size(); field++) {
      ChangedField changed = patch.changed(fields.get(field));
      if (changed != null) {
        visitChanged(field, changed);
      }
    }
    // Tables of entries are as long as the shard says; without them the length is an unchecked
    // number.
    if (open.stream().anyMatch(EntryField.class::isInstance)) {
      visitBlocks();
    }
  }

  private void visitChanged(int field, ChangedField changed) {
    EntryField entries = changed.values();
    for (long rank = 0; rank < changed.slots().count(); rank++) {
      long word0 = entries.word0(rank);
      long word1 = entries.word1(rank);
      if (!Entry.isAbsent(word0, word1)) {
        int chunk = entries.shardChunk(entries.chunkOf(rank, word0, word1));
        int length = Entry.physicalLength(word1);
        visitor.changed(field, chunk, length, padding(chunk, word0 + length));
      }
    }
  }

  private void visitRuns(int field, FixedRuns runs) {
    for (int i = 0; i < runs.runCount(); i++) {
      RunRecord run = runs.run(i);
      int chunk = runs.shardChunk(run.chunk());
      int padding = padding(chunk, run.offset() + run.bytes());
      long end = run.firstSlot() + run.count();
      for (long slot = run.firstSlot(); slot < end; ) {
        long at = run.offset() + (slot - run.firstSlot()) * runs.widthBytes();
        long dead = superseded.get(field).next(slot, end);
        if (dead > slot) {
          int after = dead == end ? padding : 0;
          visitor.values(field, chunk, at, dead - slot, runs.widthBytes(), after);
          slot = dead;
        } else {
          visitor.superseded(chunk, runs.widthBytes());
          slot++;
        }
      }
    }
  }

  private void visitRuns(int field, VariableField runs) {
    byte[] bytes = new byte[VariableBlocks.MOST_BYTES];
    ByteBuffer block = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    PresenceBits presence = runs.presence();
    for (int i = 0; i < runs.runCount(); i++) {
      RunRecord run = runs.run(i);
      int chunk = runs.shardChunk(run.chunk());
      long last = runs.endSlot(i) - 1;
      int padding = padding(chunk, run.offset() + run.bytes());
      for (long slot = run.firstSlot(); slot < runs.endSlot(i); slot += runs.blockValues(i, slot)) {
        int length = VariableBlocks.bytes(runs.blockValues(i, slot), run.unitValues());
        runs.tables().copy(runs.blockAt(i, slot), bytes, 0, length);
        runs.visit(i, slot, block, (value, start, valueBytes) -> {
          if (superseded.get(field).contains(value)) {
            visitor.superseded(chunk, valueBytes);
          } else if (valueBytes > 0 || !presence.exist() || presence.isPresent(value)) {
            visitor.values(field, chunk, start, 1, valueBytes, value == last ? padding : 0);
          }
        });
      }
    }
  }

  private void visitBlocks(int field, BlockField blocks) {
    for (int run = 0; run < blocks.runCount(); run++) {
      int chunk = blocks.shardChunk(blocks.run(run).chunk());
      long slot = blocks.run(run).firstSlot();
      long end = blocks.endBlock(run);
      int padding = padding(chunk, blocks.run(run).offset() + blocks.run(run).bytes());
      for (long block = blocks.run(run).firstUnit(); block < end; block++) {
        BlockRecord record = blocks.checked(run, block);
        if (record.firstSlot() != slot) {
          throw blocks.corrupt(block, record);
        }
        slot = record.endSlot();
        visitor.block(
            field,
            chunk,
            record.position(),
            record.slots(),
            record.storedBytes(),
            block + 1 == end ? padding : 0);
      }
    }
  }

  private void visitBlocks() {
    int most = BLOCK_VALUES / Math.max(1, fields.size());
    int blockRecords = (int)
        Math.min(shard.slots(), Math.max(MIN_BLOCK_RECORDS, Math.min(MAX_BLOCK_RECORDS, most)));
    boolean counts = shard.chunks().stream().anyMatch(ChunkFile::isOfStore);
    int[][] chunks = new int[fields.size()][counts ? blockRecords : 0];
    long[] lastRecord = new long[shard.chunks().size()];
    Arrays.fill(lastRecord, -1);
    for (long first = 0; first < shard.slots(); first += blockRecords) {
      int count = (int) Math.min(blockRecords, shard.slots() - first);
      for (int field = 0; field < chunks.length; field++) {
        visitBlock(field, first, count, chunks[field]);
      }
      if (counts) {
        visitRecords(first, count, chunks, lastRecord);
      }
    }
  }

  /** Visits the entries of a block, and remembers each value's chunk where there is room. */
  private void visitBlock(int field, long first, int count, int[] chunks) {
    OpenField opened = open.get(field);
    for (int k = 0; k < count; k++) {
      int chunk = ABSENT;
      if (opened instanceof EntryField entries) {
        long word0 = entries.word0(first + k);
        long word1 = entries.word1(first + k);
        if (!Entry.isAbsent(word0, word1)) {
          int found = entries.shardChunk(entries.chunkOf(first + k, word0, word1));
          int length = Entry.physicalLength(word1);
          if (superseded.get(field).contains(first + k)) {
            visitor.superseded(found, length);
          } else {
            chunk = found;
            visitor.values(field, chunk, word0, 1, length, padding(chunk, word0 + length));
          }
        }
      }
      if (chunks.length > 0) {
        chunks[k] = chunk;
      }
    }
  }

  private int padding(int chunk, long end) {
    return (int) Math.min(-end & 7, shard.chunks().get(chunk).bytes() - end);
  }

  private void visitRecords(long first, int count, int[][] chunks, long[] lastRecord) {
    for (int k = 0; k < count; k++) {
      for (int[] chunksOfField : chunks) {
        int chunk = chunksOfField[k];
        if (chunk != ABSENT && lastRecord[chunk] != first + k) {
          lastRecord[chunk] = first + k;
          visitor.records(chunk, 1);
        }
      }
    }
  }
}
