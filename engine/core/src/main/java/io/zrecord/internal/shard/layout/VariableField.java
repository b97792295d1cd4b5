package io.zrecord.internal.shard.layout;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.ValueAlignment;
import io.zrecord.internal.format.VariableBlocks;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.schema.Codec;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A field whose values are in variable runs (FORMAT.md section 5): the ends of 1,024 values are in
 * one block. A block is checked when the first of its values is looked up, and its base is kept
 * then, so that a later look-up reads two neighbouring ends and nothing else.
 */
public final class VariableField implements StoredField {
  private static final long U32 = 0xffff_ffffL;
  private static final int SLOT_MASK = VariableBlocks.BLOCK_VALUES - 1;

  /** No block has this base, because a chunk begins with a header. */
  private static final long NOT_ADMITTED = 0;

  private final TablesFile file;
  private final Windows windows;
  private final Codec codec;
  private final Binding binding;
  private final ValueAlignment alignment;
  private final PresenceBits presence;
  private final List<RunRecord> runs;
  private final long[] firstSlots;
  private final long offsetsAt;
  private final boolean isInOneWindow;
  private final long[] blocksAt;
  private final int[] strides;
  private final int[] firstBlocks;
  private final int[] chunks;
  private final long[] firstUnits;
  private final int[] unitShifts;
  private final long unitCount;
  private final VerifiedBits verifiedUnits;
  private final AtomicLongArray bases;

  private VariableField(
      TablesFile file, FieldTables tables, Binding binding, List<RunRecord> runs) {
    this.file = file;
    this.windows = file.windows();
    this.codec = tables.compression().codec();
    this.binding = binding;
    this.alignment = tables.alignment();
    this.presence = new PresenceBits(file, tables, binding);
    this.runs = runs;
    this.offsetsAt = tables.offsets().position();
    this.isInOneWindow =
        windows.ordinal(offsetsAt) == windows.ordinal(tables.offsets().end() - 1);
    int count = runs.size();
    this.firstSlots = new long[count + 1];
    this.blocksAt = new long[count];
    this.strides = new int[count];
    this.firstBlocks = new int[count];
    this.chunks = new int[count];
    this.firstUnits = new long[count];
    this.unitShifts = new int[count];
    long blocks = 0;
    for (int i = 0; i < count; i++) {
      RunRecord run = runs.get(i);
      firstSlots[i] = run.firstSlot();
      blocksAt[i] = offsetsAt + run.offsetsAt();
      strides[i] = VariableBlocks.paddedBytes(VariableBlocks.BLOCK_VALUES, run.unitValues());
      firstBlocks[i] = Math.toIntExact(blocks);
      chunks[i] = run.chunk();
      firstUnits[i] = run.firstUnit();
      unitShifts[i] = Integer.numberOfTrailingZeros(run.unitValues());
      blocks += VariableBlocks.blockCount(run.count());
    }
    firstSlots[count] = file.json().length();
    RunRecord last = runs.get(count - 1);
    this.unitCount = last.firstUnit() + VariableBlocks.unitCount(last.count(), last.unitValues());
    this.verifiedUnits = new VerifiedBits(unitCount, file.windows().isMapped());
    this.bases = new AtomicLongArray(Math.toIntExact(blocks));
  }

  public static VariableField open(
      TablesFile file, FieldTables tables, Binding binding, List<RunRecord> runs) {
    return new VariableField(file, tables, binding, runs);
  }

  @Override
  public int chunkCount() {
    return file.json().chunks().size();
  }

  @Override
  public long endBytes(int chunkOrdinal, long position) {
    return RunRecord.endBytes(runs, chunkOrdinal, position);
  }

  @Override
  public int shardChunk(int ordinal) {
    return file.shardChunk(ordinal);
  }

  @Override
  public String path() {
    return file.path();
  }

  /** Returns the bytes of the file of the tables. */
  public Windows tables() {
    return windows;
  }

  @Override
  public Codec codec() {
    return codec;
  }

  @Override
  public boolean hasChecksums() {
    return unitCount > 0;
  }

  @Override
  public Binding binding() {
    return binding;
  }

  /** Returns the bits that tell which values are present. An absent value has no bytes. */
  public PresenceBits presence() {
    return presence;
  }

  public int runCount() {
    return runs.size();
  }

  public RunRecord run(int ordinal) {
    return runs.get(ordinal);
  }

  /** Returns the ordinal of the chunk of a run among the chunks of the field. */
  public int chunk(int run) {
    return chunks[run];
  }

  /** Returns the slot after the last one of a run. */
  public long endSlot(int run) {
    return firstSlots[run + 1];
  }

  /** Returns the ordinal of the run that contains the value. */
  public int runOf(long slot) {
    int low = 0;
    int high = chunks.length - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (firstSlots[middle] <= slot) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /**
   * Loads the places of the values of {@code slots[from, to)} to the arrays from {@code k − first}
   * on, until a block is met that was not admitted. The loop does next to nothing else, so that as
   * many cache misses are in flight as the processor can take.
   *
   * @return the first slot that was not loaded; {@code to} if all were
   */
  public int load(
      long[] slots, int first, int from, int to, long[] starts, int[] lengths, int[] runOrdinals) {
    if (!isInOneWindow) {
      return loadAcross(slots, first, from, to, starts, lengths, runOrdinals);
    }
    ByteBuffer window = windows.window(windows.ordinal(offsetsAt));
    int windowBase = windows.within(offsetsAt);
    int run = 0;
    long low = 0;
    long high = 0;
    long firstByte = 0;
    long lastByte = 0;
    for (int k = from; k < to; k++) {
      long slot = slots[k];
      if (slot < low || slot >= high) {
        run = runOf(slot);
        low = firstSlots[run];
        high = firstSlots[run + 1];
        firstByte = runs.get(run).offset();
        lastByte = firstByte + runs.get(run).bytes();
      }
      int block = (int) ((slot - low) >>> VariableBlocks.BLOCK_SHIFT);
      int ordinal = (int) (slot - low) & SLOT_MASK;
      long base = bases.getOpaque(firstBlocks[run] + block);
      if (base == NOT_ADMITTED) {
        return k;
      }
      int at = windowBase
          + (int) (blocksAt[run] - offsetsAt)
          + block * strides[run]
          + VariableBlocks.ENDS_AT
          + Integer.BYTES * ordinal;
      long previous = ordinal == 0 ? base : base + (window.getInt(at - Integer.BYTES) & U32);
      long end = base + (window.getInt(at) & U32);
      long start = alignment.start(previous, end);
      if (start < firstByte || start > end || end > lastByte) {
        throw notWithin(run, slot);
      }
      starts[k - first] = start;
      lengths[k - first] = (int) (end - start);
      runOrdinals[k - first] = run;
    }
    return to;
  }

  private int loadAcross(
      long[] slots, int first, int from, int to, long[] starts, int[] lengths, int[] runOrdinals) {
    for (int k = from; k < to; k++) {
      int run = runOf(slots[k]);
      if (!isAdmitted(run, slots[k])) {
        return k;
      }
      starts[k - first] = start(run, slots[k]);
      lengths[k - first] = (int) (end(run, slots[k]) - starts[k - first]);
      runOrdinals[k - first] = run;
    }
    return to;
  }

  /**
   * Loads the places of consecutive values of one block, which was admitted, from ordinal
   * {@code at} of the arrays on.
   */
  public void loadRange(int run, long slot, int count, long[] starts, int[] lengths, int at) {
    long base = bases.getOpaque(blockOf(run, slot));
    long previous = previousEnd(run, slot);
    long lastByte = runs.get(run).offset() + runs.get(run).bytes();
    long endAt = endAt(run, slot);
    int done = 0;
    while (done < count) {
      ByteBuffer window = windows.window(windows.ordinal(endAt));
      int position = windows.within(endAt);
      int step = Math.min(count - done, (window.capacity() - position) / Integer.BYTES);
      for (int i = 0; i < step; i++) {
        long end = base + (window.getInt(position + Integer.BYTES * i) & U32);
        long start = alignment.start(previous, end);
        if (start > end || end > lastByte) {
          throw notWithin(run, slot);
        }
        starts[at + done + i] = start;
        lengths[at + done + i] = (int) (end - start);
        previous = end;
      }
      done += step;
      endAt += (long) Integer.BYTES * step;
    }
  }

  /** Returns the position in its chunk of a value of an admitted block. */
  public long start(int run, long slot) {
    long end = end(run, slot);
    long start = alignment.start(previousEnd(run, slot), end);
    if (start < runs.get(run).offset() || start > end) {
      throw notWithin(run, slot);
    }
    return start;
  }

  /** Returns the position in its chunk after a value of an admitted block. */
  public long end(int run, long slot) {
    long end = bases.getOpaque(blockOf(run, slot)) + (windows.intAt(endAt(run, slot)) & U32);
    if (end > runs.get(run).offset() + runs.get(run).bytes()) {
      throw notWithin(run, slot);
    }
    return end;
  }

  private long previousEnd(int run, long slot) {
    long base = bases.getOpaque(blockOf(run, slot));
    return (slot - firstSlots[run] & SLOT_MASK) == 0
        ? base
        : base + (windows.intAt(endAt(run, slot) - Integer.BYTES) & U32);
  }

  /** Returns the number of the block of a value, among all blocks of the field. */
  public int blockOf(int run, long slot) {
    return firstBlocks[run] + (int) ((slot - firstSlots[run]) >>> VariableBlocks.BLOCK_SHIFT);
  }

  /** Returns the position in the tables of the block of a value. */
  public long blockAt(int run, long slot) {
    return blocksAt[run] + ((slot - firstSlots[run]) >>> VariableBlocks.BLOCK_SHIFT) * strides[run];
  }

  /** Returns the number of the values of the block of a value. */
  public int blockValues(int run, long slot) {
    return VariableBlocks.valuesOf(
        (slot - firstSlots[run]) >>> VariableBlocks.BLOCK_SHIFT, runs.get(run).count());
  }

  private long endAt(int run, long slot) {
    return blockAt(run, slot)
        + VariableBlocks.ENDS_AT
        + Integer.BYTES * (slot - firstSlots[run] & SLOT_MASK);
  }

  /** Tells whether the block of a value was checked, so that its values can be looked up. */
  public boolean isAdmitted(int run, long slot) {
    return bases.getOpaque(blockOf(run, slot)) != NOT_ADMITTED;
  }

  /**
   * Admits the block of a value, whose checksum was right, so that values can be looked up.
   *
   * @param block the bytes of the block
   * @throws CorruptDataException if a value is not within the run
   */
  public void admit(int run, long slot, ByteBuffer block) {
    visit(run, slot, block, (value, start, length) -> {});
    bases.setRelease(blockOf(run, slot), block.getLong(0));
  }

  /** Takes the place of a value. */
  public interface Visitor {
    void value(long slot, long start, int length);
  }

  /**
   * Visits the values of the block of a value, after a check that they are within the run.
   *
   * @param block the bytes of the block
   * @throws CorruptDataException if a value is not within the run
   */
  public void visit(int run, long slot, ByteBuffer block, Visitor visitor) {
    RunRecord record = runs.get(run);
    long base = block.getLong(0);
    long end = base;
    long last = record.offset() + record.bytes();
    boolean fits = base >= record.offset() && base <= last;
    long first = slot - (slot - firstSlots[run] & SLOT_MASK);
    int values = blockValues(run, slot);
    for (int i = 0; fits && i < values; i++) {
      long next = base + (block.getInt(VariableBlocks.ENDS_AT + Integer.BYTES * i) & U32);
      long start = alignment.start(end, next);
      fits = next >= end && next <= last && isLength(next - start);
      if (fits) {
        visitor.value(first + i, start, (int) (next - start));
      }
      end = next;
    }
    if (!fits) {
      throw notWithin(run, slot);
    }
  }

  /** A block that was admitted does not change, unless its file is cut while it is mapped. */
  private CorruptDataException notWithin(int run, long slot) {
    return new CorruptDataException(
        path(),
        "Cannot read " + path() + ": the block at byte " + blockAt(run, slot)
            + " has values that are not within their run, " + runs.get(run)
            + ". Restore the file from a copy");
  }

  private static boolean isLength(long bytes) {
    return bytes >= 0 && bytes <= Integer.MAX_VALUE;
  }

  /** Returns the number of a value's unit, among all units of the field. */
  public long unitOf(int run, long slot) {
    return firstUnits[run] + ((slot - firstSlots[run]) >>> unitShifts[run]);
  }

  /** Returns the first slot of a value's unit. */
  public long unitSlot(int run, long slot) {
    return firstSlots[run] + (((slot - firstSlots[run]) >>> unitShifts[run]) << unitShifts[run]);
  }

  /** Returns the slot after the last one of a value's unit. */
  public long unitEndSlot(int run, long slot) {
    return Math.min(firstSlots[run + 1], unitSlot(run, slot) + (1L << unitShifts[run]));
  }

  /** Returns the stored checksum of a value's unit. The value's block must be admitted. */
  public int unitChecksum(int run, long slot) {
    long inBlock = (slot - firstSlots[run] & SLOT_MASK) >>> unitShifts[run];
    return windows.intAt(blockAt(run, slot)
        + VariableBlocks.checksumsAt(blockValues(run, slot))
        + Integer.BYTES * inBlock);
  }

  @Override
  public int storedChecksum(long slot) {
    return unitChecksum(runOf(slot), slot);
  }

  public boolean isUnitVerified(long unit) {
    return verifiedUnits.isSet(unit);
  }

  @Override
  public boolean isAllVerified() {
    return verifiedUnits.isAllSet();
  }

  @Override
  public void setVerified(long slot) {
    setUnitVerified(unitOf(runOf(slot), slot));
  }

  public void setUnitVerified(long unit) {
    verifiedUnits.set(unit);
  }
}
