package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.VariableBlocks;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.VariableField;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Consecutive records whose values are in variable runs and need no decoding. Their places are
 * differences of consecutive ends, and a copy is one bulk copy for each run, whatever the number of
 * values. Units are verified when their bytes are first copied, as part of the copy. Belongs to one
 * thread.
 */
final class VariableRangeSelection implements Selection {
  private static final int INITIAL_CAPACITY = 1024;

  /** Values looked up at a time, of which only as many are kept as the caller's bytes allow. */
  private static final int STEP = 256;

  private final ReadContext context;
  private final int fixedWidth;
  private final List<Segment> segments = new ArrayList<>();
  private final WrappedArray targets = new WrappedArray();
  private int lastSegment;
  private final BitSet absent = new BitSet();
  private long[] starts = new long[0];
  private int[] lengths = new int[0];
  private int count;
  private long totalBytes;
  private boolean isFull;

  /**
   * Values of one run.
   *
   * @param first ordinal of the first value in the selection
   * @param slot of the first value in the shard
   * @param bytes of all values
   * @param isGapless whether these bytes are one stretch of the chunk
   */
  private record Segment(
      int first,
      int count,
      ShardPart part,
      VariableField field,
      int run,
      long slot,
      long bytes,
      boolean isGapless) {

    int end() {
      return first + count;
    }
  }

  VariableRangeSelection(ReadContext context) {
    this.context = context;
    this.fixedWidth = context.fixedWidth();
  }

  /** Tells whether the shard's field can be read in this way. */
  boolean takes(ShardPart part) {
    // Absent values of one width are zeros in a copy of all.
    return part.patch() == null
        && part.field() instanceof VariableField field
        && !context.decodes(field)
        && (fixedWidth < 0 || !field.presence().exist());
  }

  /** Drops the selection. */
  void clear() {
    targets.clear();
    lastSegment = 0;
    segments.clear();
    absent.clear();
    count = 0;
    totalBytes = 0;
    isFull = false;
  }

  /**
   * Selects at most {@code maxCount} records of at most {@code maxBytes} stored bytes, but at least
   * one, up to the first shard that cannot be read in this way. Returns the number of records
   * selected.
   */
  int selectRange(long firstIndex, int maxCount, long maxBytes) {
    clear();
    ShardList shards = context.shards();
    while (!isFull && count < maxCount) {
      int shard = shards.shardOf(firstIndex + count);
      ShardPart part = context.part(shard);
      if (!takes(part)) {
        break;
      }
      long low = shards.firstIndex(shard);
      long end = Math.min(shards.firstIndex(shard + 1), firstIndex + maxCount) - low;
      addShard(part, firstIndex + count - low, end, low, maxBytes);
    }
    context.metrics().values.add(count);
    context.metrics().bytesRead.add(totalBytes + (long) Integer.BYTES * count);
    context.metrics().bytesDelivered.add(totalBytes);
    return count;
  }

  /** Adds values of a shard, run by run. */
  private void addShard(ShardPart part, long from, long to, long shardIndex, long maxBytes) {
    VariableField field = (VariableField) part.field();
    for (long slot = from; !isFull && slot < to; ) {
      int run = field.runOf(slot);
      int first = count;
      long before = totalBytes;
      long end = Math.min(to, field.endSlot(run));
      long next = slot;
      while (!isFull && next < end) {
        next += add(field, run, next, end, shardIndex, maxBytes);
      }
      if (count > first) {
        long bytes = totalBytes - before;
        long span = starts[count - 1] + lengths[count - 1] - starts[first];
        segments.add(
            new Segment(first, count - first, part, field, run, slot, bytes, bytes == span));
      }
      slot = next;
    }
  }

  private static int untilBlockEnd(VariableField field, int run, long slot) {
    long inRun = slot - field.run(run).firstSlot();
    return (int) (VariableBlocks.BLOCK_VALUES - inRun % VariableBlocks.BLOCK_VALUES);
  }

  /** Adds the next values of one block. Returns how many fit. */
  private int add(
      VariableField field, int run, long slot, long end, long shardIndex, long maxBytes) {
    int wanted = (int) Math.min(Math.min(end - slot, untilBlockEnd(field, run, slot)), STEP);
    context.check().tables().block(field, run, slot);
    grow(count + wanted);
    field.loadRange(run, slot, wanted, starts, lengths, count);
    int taken = 0;
    while (taken < wanted) {
      int length = lengths[count + taken];
      if (totalBytes + length > maxBytes && count + taken > 0) {
        isFull = true;
        break;
      }
      if (fixedWidth >= 0 && length != fixedWidth) {
        throw context.corrupt(
            field.path(),
            shardIndex + slot + taken,
            "has " + length + " bytes instead of " + fixedWidth,
            null);
      }
      totalBytes += length;
      taken++;
    }
    if (field.presence().exist()) {
      addAbsent(field, slot, taken);
    }
    count += taken;
    return taken;
  }

  private void addAbsent(VariableField field, long slot, int taken) {
    for (int i = 0; i < taken; i++) {
      if (lengths[count + i] == 0
          && !Validity.isPresent(context.check().tables(), field.presence(), slot + i)) {
        absent.set(count + i);
      }
    }
  }

  private void grow(int needed) {
    if (starts.length < needed) {
      int capacity =
          Math.max(Math.max(INITIAL_CAPACITY, needed), starts.length + (starts.length >> 1));
      starts = Arrays.copyOf(starts, capacity);
      lengths = Arrays.copyOf(lengths, capacity);
    }
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public boolean hasAbsent() {
    return !absent.isEmpty();
  }

  @Override
  public boolean isAbsent(int i) {
    return absent.get(i);
  }

  @Override
  public int lengthBytes(int i) {
    return lengths[i];
  }

  @Override
  public long totalLengthBytes() {
    return totalBytes;
  }

  @Override
  public int copy(int i, ByteBuffer target, int at) {
    if (lengths[i] > 0) {
      copy(segment(i), i, i + 1, target, at);
      context.check().takeExtraBytes();
    }
    return lengths[i];
  }

  @Override
  public int copy(int i, byte[] target, int offset) {
    return copy(i, targets.of(target), offset);
  }

  @Override
  public void copyAll(ByteBuffer target, int at) {
    int next = at;
    for (Segment segment : segments) {
      copy(segment, segment.first, segment.end(), target, next);
      next += (int) segment.bytes;
    }
    context.check().takeExtraBytes();
  }

  /** Copies the values {@code [from, to)}, and verifies units that were not yet. */
  private void copy(Segment segment, int from, int to, ByteBuffer target, int at) {
    VariableField field = segment.field;
    int next = from;
    int nextAt = at;
    if (!context.check().isSettled(field)) {
      for (int i = from; i < to; ) {
        long slot = segment.slot + (i - segment.first);
        int unitEnd = (int) Math.min(to, i + (field.unitEndSlot(segment.run, slot) - slot));
        if (context.check().isDue(field, segment.run, slot)) {
          nextAt = copyVerified(segment, next, i, target, nextAt);
          next = copyDue(segment, i, unitEnd, target, nextAt);
          nextAt += (int) bytes(segment, i, next);
        }
        i = unitEnd;
      }
    }
    copyVerified(segment, next, to, target, nextAt);
  }

  /**
   * Verifies the unit of the values {@code [from, to)}, and copies these values with it if they are
   * all of the unit. Returns the first value that was not copied.
   */
  private int copyDue(Segment segment, int from, int to, ByteBuffer target, int at) {
    VariableField field = segment.field;
    long slot = segment.slot + (from - segment.first);
    boolean isWhole = segment.isGapless
        && field.unitSlot(segment.run, slot) == slot
        && field.unitEndSlot(segment.run, slot) == slot + (to - from);
    if (!isWhole) {
      context.check().unit(segment.part, field, segment.run, slot);
      return from;
    }
    int length = (int) bytes(segment, from, to);
    context.check().copyUnit(segment.part, field, segment.run, slot, length, target, at);
    return to;
  }

  /** Returns the bytes of the values {@code [from, to)}. */
  private long bytes(Segment segment, int from, int to) {
    if (from == to) {
      return 0;
    }
    if (segment.isGapless) {
      return starts[to - 1] + lengths[to - 1] - starts[from];
    }
    long bytes = 0;
    for (int i = from; i < to; i++) {
      bytes += lengths[i];
    }
    return bytes;
  }

  /** Copies values stretch by stretch. Returns where the next value goes. */
  private int copyVerified(Segment segment, int from, int to, ByteBuffer target, int at) {
    int next = at;
    for (int i = from; i < to; ) {
      int end = segment.isGapless ? to : endOfStretch(i, to);
      int length = (int) (starts[end - 1] + lengths[end - 1] - starts[i]);
      int chunk = segment.field.chunk(segment.run);
      int window = segment.part.ready(chunk, starts[i], length);
      int position = length == 0 ? 0 : segment.part.within(chunk, starts[i]);
      context.table().copy(window, position, target, next, length);
      next += length;
      i = end;
    }
    return next;
  }

  private int endOfStretch(int from, int to) {
    int end = from + 1;
    while (end < to && starts[end] == starts[end - 1] + lengths[end - 1]) {
      end++;
    }
    return end;
  }

  @Override
  public ByteBuffer view(int i) {
    if (lengths[i] == 0) {
      return ByteBuffer.allocate(0).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }
    Segment segment = segment(i);
    long slot = segment.slot + (i - segment.first);
    if (context.check().isDue(segment.field, segment.run, slot)) {
      context.check().unit(segment.part, segment.field, segment.run, slot);
      context.check().takeExtraBytes();
    }
    int chunk = segment.field.chunk(segment.run);
    int window = segment.part.ready(chunk, starts[i], lengths[i]);
    int position = segment.part.within(chunk, starts[i]);
    if (!context.table().crosses(window, position, lengths[i])) {
      return context.table().get(window).slice(position, lengths[i]).order(ByteOrder.LITTLE_ENDIAN);
    }
    ByteBuffer own = ByteBuffer.allocate(lengths[i]);
    context.table().copy(window, position, own, 0, lengths[i]);
    return own.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  private Segment segment(int i) {
    Segment segment = segments.get(lastSegment);
    if (i < segment.first || i >= segment.end()) {
      lastSegment = segmentOf(i);
    }
    return segments.get(lastSegment);
  }

  private int segmentOf(int i) {
    int low = 0;
    int high = segments.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (segments.get(middle).first <= i) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
}
