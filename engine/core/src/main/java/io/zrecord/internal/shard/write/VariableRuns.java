package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.ValueAlignment;
import io.zrecord.internal.format.VariableBlocks;
import io.zrecord.internal.shard.Zeros;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Collects where the values of variable runs are, and their checksums (FORMAT.md section 5), while
 * the values are written. Belongs to one thread.
 */
final class VariableRuns {
  /** Bytes that a unit of several values has on average, at most. */
  private static final int UNIT_BYTES = 4096;

  /** A run ends where units of another size, more or less than this factor, would fit better. */
  private static final int UNIT_TOLERANCE = 4;

  private static final byte[] ZEROS = new byte[4096];

  private final ColumnTables tables;
  private final ValueAlignment alignment;
  private final Alignment ofRuns;
  private final SpooledTable offsets;
  private final List<RunRecord> runs = new ArrayList<>();
  private final byte[] block = new byte[VariableBlocks.MOST_BYTES];
  private final ByteBuffer blockBuffer = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
  private final int[] checksums = new int[VariableBlocks.BLOCK_VALUES];
  private final CRC32C crc = new CRC32C();
  private boolean isInRun;
  private RunRecord run = RunRecord.entries(0);
  private long end;
  private int blockCount;
  private int unitFill;
  private long summedTo;
  private long unitSlot;
  private long slotCount;
  private long unitCount;
  private long blockNumber;

  /**
   * Describes values that are written at once.
   *
   * @param count number of values
   * @param bytes their bytes, gaps included
   * @param longest length of the longest one and of the gap before it
   * @param first length of the first one
   */
  record Stretch(int count, long bytes, int longest, int first) {}

  VariableRuns(ColumnTables tables, ValueAlignment alignment) {
    this.tables = tables;
    this.alignment = alignment;
    this.ofRuns = new Alignment(Math.max(Alignment.LEAST.bytes(), alignment.most()));
    this.offsets = tables.spool().table();
  }

  /**
   * Makes the chunk ready for values that are to be written next, in the run before or in a new
   * one. The first value begins where the file ends then.
   */
  WritableFile begin(ChunkWriter chunks, Stretch next) {
    int unitValues = unitValues(next);
    int needed = next.longest >= alignment.most() ? alignment.most() : alignment.least();
    long start = (end + needed - 1) & -needed;
    boolean continues = isInRun
        && run.chunk() == chunks.ordinal()
        && end == chunks.positionBytes()
        && start == alignment.startFor(end, next.first)
        && start + next.bytes - base() < VariableBlocks.SPAN_BYTES
        && unitValues <= UNIT_TOLERANCE * run.unitValues()
        && run.unitValues() <= UNIT_TOLERANCE * unitValues;
    if (continues) {
      WritableFile file = chunks.aligned(Alignment.NONE, 1);
      int gap = (int) (start - end);
      Zeros.write(file, gap);
      sumZeros(gap);
      return file;
    }
    endRun();
    WritableFile file = chunks.aligned(ofRuns, next.longest);
    end = file.positionBytes();
    run = RunRecord.variable(
        chunks.ordinal(), slotCount, 0, end, 0, unitCount, offsets.lengthBytes(), unitValues);
    isInRun = true;
    beginBlock();
    return file;
  }

  /** Returns the number of values whose units are as long as they may be. */
  private int unitValues(Stretch next) {
    if (!tables.hasChecksums()) {
      return 0;
    }
    long average = Math.max(1, next.bytes / next.count);
    return average >= UNIT_BYTES
        ? 1
        : Integer.highestOneBit((int) Math.min(VariableBlocks.BLOCK_VALUES, UNIT_BYTES / average));
  }

  /** Adds a value whose bytes are in a stripe that begins at a position of the chunk. */
  void add(int lengthBytes, StripeBuffer stripe, long stripeStart) {
    place(lengthBytes);
    if (unitFill == run.unitValues()) {
      sum(stripe, stripeStart);
      endUnit();
    }
  }

  /** Adds a value whose bytes were given to {@link #crc}. */
  void addSummed(int lengthBytes) {
    place(lengthBytes);
    summedTo = end;
    if (unitFill == run.unitValues()) {
      endUnit();
    }
  }

  /** Takes the checksum of what is left of a stripe. */
  void sum(StripeBuffer stripe, long stripeStart) {
    if (run.unitValues() > 0) {
      stripe.checksum(crc, summedTo - stripeStart, end - summedTo);
      summedTo = end;
    }
  }

  /** Returns the checksum of the current unit, for a value of which the bytes come in pieces. */
  CRC32C crc() {
    return crc;
  }

  /** Returns the runs that have ended. */
  List<RunRecord> runs() {
    return runs;
  }

  /** Returns the section {@code offsets} of the runs that have ended. */
  SpooledTable offsets() {
    return offsets;
  }

  ValueAlignment alignment() {
    return alignment;
  }

  private long base() {
    return blockBuffer.getLong(0);
  }

  private void place(int lengthBytes) {
    if (blockCount == VariableBlocks.BLOCK_VALUES) {
      endBlock();
      beginBlock();
    }
    long start = alignment.startFor(end, lengthBytes);
    if (unitFill == 0) {
      unitSlot = slotCount;
      summedTo = start;
    }
    end = start + lengthBytes;
    blockBuffer.putInt(VariableBlocks.ENDS_AT + Integer.BYTES * blockCount, (int) (end - base()));
    blockCount++;
    slotCount++;
    unitFill++;
  }

  private void sumZeros(int count) {
    if (unitFill > 0) {
      for (int done = 0; done < count; done += ZEROS.length) {
        crc.update(ZEROS, 0, Math.min(ZEROS.length, count - done));
      }
      summedTo += count;
    }
  }

  private void endUnit() {
    if (unitFill > 0 && run.unitValues() > 0) {
      int inBlock = (blockCount - 1) / run.unitValues();
      checksums[inBlock] =
          tables.binding().bind(Binding.Kind.VALUE, unitSlot, (int) crc.getValue());
      unitCount++;
    }
    crc.reset();
    unitFill = 0;
  }

  private void beginBlock() {
    blockBuffer.putLong(0, end);
    blockCount = 0;
  }

  private void endBlock() {
    endUnit();
    int at = VariableBlocks.checksumsAt(blockCount);
    int bytes = VariableBlocks.bytes(blockCount, run.unitValues());
    for (int i = 0; at + Integer.BYTES * i < bytes; i++) {
      blockBuffer.putInt(at + Integer.BYTES * i, checksums[i]);
    }
    int sum = Crc32c.of(block, 0, bytes);
    blockBuffer.putInt(bytes, tables.binding().bind(Binding.Kind.OFFSETS, blockNumber, sum));
    int padded = VariableBlocks.paddedBytes(blockCount, run.unitValues());
    java.util.Arrays.fill(block, bytes + Integer.BYTES, padded, (byte) 0);
    offsets.put(block, padded);
    blockNumber++;
  }

  /** Ends the run, if any. The next value begins another one. */
  void endRun() {
    if (isInRun) {
      endBlock();
      runs.add(RunRecord.variable(
          run.chunk(),
          run.firstSlot(),
          slotCount - run.firstSlot(),
          run.offset(),
          end - run.offset(),
          run.firstUnit(),
          run.offsetsAt(),
          run.unitValues()));
      isInRun = false;
    }
  }
}
