package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.VariableBlocks;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.VariableField;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive records whose values are in variable runs and need no decoding. Their places are
 * differences of consecutive ends, and a copy is one bulk copy for each run, whatever the number of
 * values. Deleted records and changed values end a stretch of the copy. Units are verified when
 * their bytes are first copied, as part of the copy. Belongs to one thread.
 */
final class VariableRangeSelection implements Selection {
  private static final int INITIAL_CAPACITY = 1024;

  /** Values looked up per step. Those beyond the caller's byte limit are dropped. */
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

  // The unit whose values were checked last, for this selection.
  private @Nullable VariableField checkedField;
  private long checkedUnit;

  /**
   * Values of one run, or of a patch.
   *
   * @param first ordinal of the first value in the selection
   * @param source ordinal of the shard, or what stands for its changed values
   * @param run ordinal of the run; meaningless for changed values
   * @param slot of the first value in the shard; of a changed value, the rank of the slot
   * @param bytes of all values
   * @param isGapless whether these bytes are one stretch of the chunk
   */
  private record Segment(
      int first,
      int count,
      int source,
      ShardPart part,
      int run,
      long slot,
      long bytes,
      boolean isGapless) {

    /** Returns the field of values that were not changed. */
    VariableField field() {
      return (VariableField) part.field();
    }

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
    // Absent values of one width are zeros in a copy of all, and no width is no zeros.
    return part.field() instanceof VariableField field
        && !context.decodes(field)
        && (fixedWidth <= 0 || !field.presence().exist())
        && takes(part.patch());
  }

  private boolean takes(@Nullable ShardPatch patch) {
    return patch == null
        || patch.changed() == null
        || (fixedWidth < 0 && patch.isAsRead(context.spec()));
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
    checkedField = null;
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
      long from = firstIndex + count - low;
      ShardPatch patch = part.patch();
      if (patch == null) {
        addRuns(shard, part, from, end, maxBytes);
      } else {
        addPatched(shard, part, patch, from, end, maxBytes);
      }
    }
    context.metrics().values.add(count);
    context.metrics().bytesRead.add(totalBytes + (long) Integer.BYTES * count);
    context.metrics().bytesDelivered.add(totalBytes);
    return count;
  }

  /** Adds the records {@code [from, to)} of a shard, in stretches that the patch leaves alone. */
  private void addPatched(
      int shard, ShardPart part, ShardPatch patch, long from, long to, long maxBytes) {
    ChangedField changed = patch.changed();
    int first = count;
    long slot = patch.slotOf(from);
    for (long next = from; !isFull && next < to; slot = patch.nextLive(slot)) {
      int before = count;
      long end = Math.min(slot + (to - next), patch.endOfLive(slot));
      if (changed == null) {
        addRuns(shard, part, slot, end, maxBytes);
      } else if (changed.slots().contains(slot)) {
        addChanged(shard, changed, slot, end, maxBytes);
      } else {
        long nextChanged = changed.slots().next(slot);
        addRuns(shard, part, slot, nextChanged < 0 ? end : Math.min(end, nextChanged), maxBytes);
      }
      slot += count - before;
      next = from + (count - first);
    }
  }

  /** Adds changed values of consecutive slots from a changed one on. */
  private void addChanged(int shard, ChangedField changed, long slot, long end, long maxBytes) {
    EntryField values = changed.values();
    int source = context.changed(shard);
    int first = count;
    long before = totalBytes;
    long firstRank = changed.slots().rank(slot);
    do {
      long rank = firstRank + (count - first);
      long word0 = values.word0(rank);
      long word1 = values.word1(rank);
      boolean isAbsent = Entry.isAbsent(word0, word1);
      if (!isAbsent) {
        values.chunkOf(rank, word0, word1);
      }
      int length = isAbsent ? 0 : Entry.physicalLength(word1);
      if (totalBytes + length > maxBytes && count > 0) {
        isFull = true;
        break;
      }
      if (length == 0 && context.check().isDue(values, rank)) {
        checkEmpty(source, values, rank, isAbsent);
      }
      grow(count + 1);
      starts[count] = word0;
      lengths[count] = length;
      absent.set(count, isAbsent);
      totalBytes += length;
      count++;
    } while (slot + (count - first) < end && changed.slots().contains(slot + (count - first)));
    if (count > first) {
      ShardPart part = context.part(source);
      segments.add(new Segment(
          first, count - first, source, part, 0, firstRank, totalBytes - before, false));
    }
  }

  /** Verifies a value without bytes, which is perhaps never copied. */
  private void checkEmpty(int source, EntryField values, long rank, boolean isAbsent) {
    long index = context.indexOf(source, rank);
    if (isAbsent) {
      context.check().absent(values, rank, index);
    } else {
      context.check().value(values, rank, index, WindowTable.EMPTY, 0, 0);
    }
  }

  /** Adds values of consecutive slots, run by run. */
  private void addRuns(int shard, ShardPart part, long from, long to, long maxBytes) {
    VariableField field = (VariableField) part.field();
    for (long slot = from; !isFull && slot < to; ) {
      int run = field.runOf(slot);
      int first = count;
      long before = totalBytes;
      long end = Math.min(to, field.endSlot(run));
      long next = slot;
      while (!isFull && next < end) {
        next += add(part, field, run, next, end, maxBytes);
      }
      if (count > first) {
        long bytes = totalBytes - before;
        long span = starts[count - 1] + lengths[count - 1] - starts[first];
        segments.add(
            new Segment(first, count - first, shard, part, run, slot, bytes, bytes == span));
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
      ShardPart part, VariableField field, int run, long slot, long end, long maxBytes) {
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
            part.indexOf(slot + taken),
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
  }

  /** Copies the values {@code [from, to)}, and verifies units that were not yet. */
  private void copy(Segment segment, int from, int to, ByteBuffer target, int at) {
    if (segment.part.field() instanceof EntryField values) {
      copyChanged(segment, values, from, to, target, at);
      return;
    }
    VariableField field = segment.field();
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

  /** Copies the changed values {@code [from, to)}, and verifies those that were not yet. */
  private void copyChanged(
      Segment segment, EntryField values, int from, int to, ByteBuffer target, int at) {
    int next = at;
    for (int i = from; i < to; i++) {
      int length = lengths[i];
      if (length == 0) {
        continue;
      }
      long rank = segment.slot + (i - segment.first);
      int chunk = Entry.chunkId(values.word1(rank));
      long place = segment.part.place(chunk, starts[i], length);
      int window = Place.window(place);
      int position = Place.position(place);
      if (context.check().isDue(values, rank)) {
        long index = context.indexOf(segment.source, rank);
        context.check().copyValue(values, rank, index, window, position, length, target, next);
      } else {
        context.table().copy(window, position, target, next, length);
      }
      next += length;
    }
  }

  /**
   * Verifies the unit of the values {@code [from, to)}, and copies these values with it if they are
   * all of the unit. Returns the first value that was not copied.
   */
  private int copyDue(Segment segment, int from, int to, ByteBuffer target, int at) {
    VariableField field = segment.field();
    long slot = segment.slot + (from - segment.first);
    boolean isWhole = segment.isGapless
        && field.unitSlot(segment.run, slot) == slot
        && field.unitEndSlot(segment.run, slot) == slot + (to - from);
    if (!isWhole) {
      checkUnit(segment, field, slot);
      return from;
    }
    int length = (int) bytes(segment, from, to);
    context.check().copyUnit(segment.part, field, segment.run, slot, length, target, at);
    return to;
  }

  /** Checks the unit of a value, unless the value before was of this unit. */
  private void checkUnit(Segment segment, VariableField field, long slot) {
    long unit = field.unitOf(segment.run, slot);
    if (unit != checkedUnit || field != checkedField) {
      context.check().unit(segment.part, field, segment.run, slot);
      context.metrics().bytesRead.add(context.check().takeExtraBytes());
      checkedField = field;
      checkedUnit = unit;
    }
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
      int chunk = segment.field().chunk(segment.run);
      long place = segment.part.place(chunk, starts[i], length);
      context.table().copy(Place.window(place), Place.position(place), target, next, length);
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
    if (segment.part.field() instanceof EntryField values) {
      ByteBuffer own = ByteBuffer.allocate(lengths[i]);
      copyChanged(segment, values, i, i + 1, own, 0);
      return own.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }
    long slot = segment.slot + (i - segment.first);
    VariableField field = segment.field();
    if (context.check().isDue(field, segment.run, slot)) {
      checkUnit(segment, field, slot);
    }
    int chunk = field.chunk(segment.run);
    long place = segment.part.place(chunk, starts[i], lengths[i]);
    int window = Place.window(place);
    int position = Place.position(place);
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
