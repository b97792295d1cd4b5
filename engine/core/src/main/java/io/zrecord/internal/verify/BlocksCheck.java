package io.zrecord.internal.verify;

import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.BlockRecord;
import io.zrecord.internal.format.BlockShape;
import io.zrecord.internal.format.BlockUnits;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.DecodedBlock;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.schema.Compression;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * Checks a field whose values are compressed in blocks (FORMAT.md section 5), block by block.
 * Belongs to one thread.
 */
final class BlocksCheck implements AutoCloseable {
  private final CheckRun run;
  private final ShardTables tables;
  private final FieldTables field;
  private final FieldSpec spec;
  private final ContentCheck content;
  private final long firstIndex;
  private final BlockShape shape;
  private final Binding binding;
  private final ValueCodec codec;
  private final DecodedBlock decoded = new DecodedBlock();
  private final byte[] unit = new byte[BlockUnits.UNIT_BYTES + BlockUnits.CHECKSUM_BYTES];
  private final ByteBuffer unitBuffer = ByteBuffer.wrap(unit).order(ByteOrder.LITTLE_ENDIAN);
  private byte[] stored = new byte[0];
  private @Nullable PresenceCheck presence;
  private long valueBytes;
  private boolean isComplete = true;

  BlocksCheck(
      CheckRun run, ShardTables tables, FieldTables field, FieldSpec spec, long firstIndex) {
    this.run = run;
    this.tables = tables;
    this.field = field;
    this.spec = spec;
    this.content = new ContentCheck(spec);
    this.firstIndex = firstIndex;
    this.shape = BlockShape.of(field.type(), field.shape());
    this.binding = new Binding(tables.json().shardId(), field.id());
    this.codec = ValueCodec.of(Compression.of(field.compression().codec()));
  }

  /** Checks the tables of the field, and the field's values. */
  void check(List<RunRecord> runs, ChunkFiles chunks) {
    if (field.validity().isPresent()) {
      presence = new PresenceCheck(tables, field, spec.name());
      presence.check(run, firstIndex);
    }
    long blocks = BlockUnits.blocks(field.offsets().bytes());
    for (int i = 0; i < runs.size(); i++) {
      RunRecord stretch = runs.get(i);
      long end = i + 1 == runs.size() ? blocks : runs.get(i + 1).firstUnit();
      checkRun(stretch, end, chunks);
      run.checked(stretch.count(), 0);
    }
    if (isComplete && valueBytes != field.valueBytes()) {
      run.found(
          Kind.COUNT,
          tables.path(),
          spec.name(),
          "it says " + field.valueBytes() + " bytes of values, but there are " + valueBytes);
    }
  }

  private void checkRun(RunRecord stretch, long endBlock, ChunkFiles chunks) {
    long end = stretch.firstSlot() + stretch.count();
    long slot = stretch.firstSlot();
    for (long block = stretch.firstUnit(); block < endBlock; ) {
      long endOfUnit = Math.min(endBlock, (BlockUnits.unitOf(block) + 1) * BlockUnits.UNIT_BLOCKS);
      if (!loadUnit(BlockUnits.unitOf(block))) {
        // Where the values of the unit end is not known: the rest of the run counts as damaged.
        foundRecords(slot, end - slot, "the checksum of the records of blocks does not hold");
        return;
      }
      for (; block < endOfUnit; block++) {
        BlockRecord record = BlockRecord.read(unitBuffer, (int)
            (BlockUnits.recordAt(block) - BlockUnits.unitAt(BlockUnits.unitOf(block))));
        String problem = problemOf(record, stretch, slot);
        if (problem != null) {
          foundRecords(slot, end - slot, "block " + block + ", " + record.described() + problem);
          return;
        }
        if (chunks.presentBytes(stretch.chunk()) < record.position() + record.storedBytes()) {
          foundLost(chunks, stretch, record.position(), slot, end - slot);
          return;
        }
        checkBlock(stretch.chunk(), block, record, chunks);
        slot = record.endSlot();
      }
    }
    if (slot != end) {
      foundRecords(slot, end - slot, "the last block of a run ends before the run");
    }
  }

  private @Nullable String problemOf(BlockRecord record, RunRecord stretch, long slot) {
    if (record.isUnknown()) {
      return ", has flags that this release does not know";
    }
    if (record.firstSlot() != slot) {
      return ", does not follow the block before, which ends at " + slot;
    }
    return record.isPossible(stretch, shape, field.compression().codec(), field.blockBytes())
        ? null
        : ", is not within its run, or not possible";
  }

  private boolean loadUnit(long number) {
    int bytes = BlockUnits.unitBytes(number, BlockUnits.blocks(field.offsets().bytes()));
    int padded = bytes + BlockUnits.CHECKSUM_BYTES;
    long at = field.offsets().position() + BlockUnits.unitAt(number);
    return tables.tryRead(at, unit, 0, padded) == padded
        && ShardTables.holds(unit, bytes, binding, Binding.Kind.OFFSETS, number)
        && ShardTables.isPadded(unit, bytes, padded);
  }

  private void checkBlock(int chunk, long number, BlockRecord record, ChunkFiles chunks) {
    int length = record.storedBytes();
    Finding.Stretch bytes = new Finding.Stretch(chunks.path(chunk), record.position(), length);
    run.checked(0, length);
    valueBytes += length;
    String problem;
    try {
      problem = problemOf(chunk, number, record, chunks);
    } catch (OutOfMemoryError e) {
      run.found(new Finding(
          Kind.NOTE,
          bytes.file(),
          spec.name(),
          firstIndex + record.firstSlot(),
          record.slots(),
          "the block was not decompressed, which takes " + ((long) length + record.rawBytes())
              + " bytes of memory; raise -Xmx"));
      return;
    }
    if (problem == null) {
      checkValues(record, bytes);
    } else {
      foundValues(record.firstSlot(), record.slots(), problem, bytes);
    }
  }

  private @Nullable String problemOf(
      int chunk, long number, BlockRecord record, ChunkFiles chunks) {
    int length = record.storedBytes();
    if (stored.length < length) {
      stored = new byte[0];
      stored = new byte[length];
    }
    if (chunks.read(chunk, record.position(), stored, 0, length) < length) {
      return "the " + length + " bytes at " + record.position() + " cannot all be read";
    }
    int found = tables.json().hasChecksums()
        ? binding.bind(Binding.Kind.BLOCK, number, Crc32c.of(stored, 0, length))
        : 0;
    if (found != record.checksum()) {
      return "the checksum of the " + length + " bytes at " + record.position() + " is "
          + HexFormat.of().toHexDigits(found) + ", but "
          + HexFormat.of().toHexDigits(record.checksum()) + " was stored";
    }
    try {
      decoded.decode(
          codec, shape, stored, length, record.rawBytes(), record.slots(), record.flags());
    } catch (DataFormatException e) {
      return "the block cannot be decoded: " + e.getMessage();
    }
    return null;
  }

  private void checkValues(BlockRecord record, Finding.Stretch bytes) {
    if (shape.isFixed()) {
      return;
    }
    for (int i = 0; i < record.slots(); i++) {
      String problem = problemOfValue(record.firstSlot() + i, decoded.start(i), decoded.end(i));
      if (problem != null) {
        foundValues(record.firstSlot() + i, 1, problem, bytes);
      }
    }
  }

  private @Nullable String problemOfValue(long slot, int start, int end) {
    if (presence == null || presence.isPresent(slot)) {
      return content.problem(decoded.bytes(), start, end - start);
    }
    return end > start ? "it is absent, but has " + (end - start) + " bytes" : null;
  }

  private void foundValues(long slot, long count, String problem, Finding.Stretch bytes) {
    run.found(new Finding(
        Kind.VALUE, bytes.file(), spec.name(), firstIndex + slot, count, problem, bytes));
  }

  private void foundRecords(long slot, long count, String problem) {
    isComplete = false;
    run.found(
        new Finding(Kind.RUNS, tables.path(), spec.name(), firstIndex + slot, count, problem));
  }

  private void foundLost(
      ChunkFiles chunks, RunRecord stretch, long position, long slot, long count) {
    isComplete = false;
    long bytes = stretch.offset() + stretch.bytes() - position;
    run.checked(0, bytes);
    String path = chunks.path(stretch.chunk());
    run.found(new Finding(
        Kind.VALUE,
        path,
        spec.name(),
        firstIndex + slot,
        count,
        "the " + bytes + " bytes at " + position + " cannot all be read",
        new Finding.Stretch(path, position, bytes)));
  }

  @Override
  public void close() {
    codec.close();
  }
}
