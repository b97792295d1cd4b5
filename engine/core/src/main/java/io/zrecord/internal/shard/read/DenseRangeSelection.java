package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.Zeros;
import io.zrecord.internal.shard.layout.AbsentField;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.FixedRuns;
import io.zrecord.internal.shard.layout.PresenceBits;
import io.zrecord.internal.shard.layout.PromotedField;
import io.zrecord.internal.shard.layout.StoredField;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive records of one width that lie in dense arrays, or are all absent. A copy is one bulk
 * copy for each run, whatever the number of values. Units are verified when their bytes are first
 * copied, as part of the copy. Belongs to one thread.
 */
final class DenseRangeSelection implements Selection {
  /** Number of changed values looked up before the first of them is copied. */
  private static final int LOOKUPS = 256;

  /** Bytes that are copied before the changed values among them. */
  private static final int PIECE_BYTES = 1 << 17;

  private final ReadContext context;
  private final ChangedValues values;
  private final int width;
  private final long[] slots = new long[LOOKUPS];
  private final List<Segment> segments = new ArrayList<>();
  private final WrappedArray targets = new WrappedArray();
  private int lastSegment;
  private int count;
  private boolean hasAbsent;

  /**
   * Values next to each other.
   *
   * @param slot place of the first value in the selection
   * @param run ordinal of the run; -1 if all values are absent
   * @param firstIndex index of the first value in the shard
   * @param presence the bits from the 64 of the first value on; null if no value is absent
   * @param changes what replaces some of the values; null if nothing
   */
  private record Segment(
      int slot,
      int count,
      ShardPart part,
      int run,
      long firstIndex,
      @Nullable BitSet presence,
      @Nullable Changes changes) {

    boolean isPresent(long index) {
      return presence == null || presence.get((int) (index - (firstIndex & -Long.SIZE)));
    }
  }

  /**
   * Changed values of a shard.
   *
   * @param source what stands for the changed values of the shard
   */
  private record Changes(int source, ChangedField field) {}

  /** Tells whether a shard that lacks the field has values of it. */
  private final boolean hasInitial;

  DenseRangeSelection(ReadContext context) {
    this.context = context;
    this.values = context.changedValues();
    this.width = context.spec().valueWidthBytes().orElse(0);
    this.hasInitial = context.spec().rules().initialHex() != null;
  }

  /** Tells whether the shard's field can be read in this way. */
  boolean takes(ShardPart part) {
    return width > 0
        && !(part.field() instanceof StoredField)
        && !(part.field() instanceof PromotedField)
        && !(hasInitial && part.field() instanceof AbsentField)
        && (part.patch() == null || part.patch().isAsRead(context.spec()));
  }

  /** Drops the selection. */
  void clear() {
    targets.clear();
    lastSegment = 0;
    segments.clear();
    count = 0;
    hasAbsent = false;
  }

  /**
   * Selects at most {@code maxCount} records, up to the first shard that cannot be read in this
   * way. Returns the number of records selected.
   */
  int selectRange(long firstIndex, int maxCount, long maxBytes) {
    clear();
    int wanted = (int) Math.min(maxCount, Math.max(1, maxBytes / width));
    ShardList shards = context.shards();
    long storedBytes = 0;
    int lastShard = -1;
    long lastEnd = 0;
    while (count < wanted) {
      long global = firstIndex + count;
      int shard = shards.shardOf(global);
      ShardPart part = context.part(shard);
      if (!takes(part)) {
        break;
      }
      long local = global - shards.firstIndex(shard);
      long left = Math.min(wanted - count, shards.firstIndex(shard + 1) - global);
      ShardPatch patch = part.patch();
      if (patch != null) {
        local = shard == lastShard ? patch.nextLive(lastEnd) : patch.slotOf(local);
        left = Math.min(left, patch.endOfLive(local) - local);
      }
      if (part.field() instanceof FixedRuns field) {
        int run = field.runOf(local);
        int taken =
            (int) Math.min(left, field.run(run).firstSlot() + field.run(run).count() - local);
        storedBytes += (long) taken * width;
        BitSet presence = null;
        PresenceBits bits = field.presence();
        if (bits.exist()) {
          storedBytes += taken / 8;
          if (Validity.hasAbsent(context.check().tables(), bits, local, local + taken)) {
            // Copied, because the bits are used later, when the mapped file may have been cut.
            presence = BitSet.valueOf(Validity.copy(bits, local, local + taken));
          }
        }
        add(shard, part, run, local, taken, presence);
      } else if (part.field() instanceof BlockField field) {
        BitSet presence = null;
        PresenceBits bits = field.presence();
        if (bits.exist()
            && Validity.hasAbsent(context.check().tables(), bits, local, local + left)) {
          presence = BitSet.valueOf(Validity.copy(bits, local, local + left));
        }
        add(shard, part, 0, local, (int) left, presence);
      } else {
        add(shard, part, -1, local, (int) left, new BitSet());
      }
      lastShard = shard;
      lastEnd = local + segments.get(segments.size() - 1).count;
    }
    context.metrics().values.add(count);
    context.metrics().bytesRead.add(storedBytes);
    context.metrics().bytesDelivered.add((long) count * width);
    return count;
  }

  private void add(
      int shard, ShardPart part, int run, long slot, int taken, @Nullable BitSet presence) {
    ChangedField field = part.patch() == null ? null : part.patch().changed();
    BitSet bits = presence;
    Changes changes = null;
    if (field != null && field.slots().rank(slot) < field.slots().rank(slot + taken)) {
      changes = new Changes(context.changed(shard), field);
      if (presence != null || field.hasAbsent()) {
        bits = presence(changes, slot, taken, presence);
      }
    }
    hasAbsent |= bits != null;
    segments.add(new Segment(count, taken, part, run, slot, bits, changes));
    count += taken;
  }

  /** Returns the presence bits of values some of which were changed; null if all are present. */
  private @Nullable BitSet presence(
      Changes changes, long slot, int taken, @Nullable BitSet presence) {
    long base = slot & -Long.SIZE;
    int first = (int) (slot - base);
    BitSet bits = presence == null ? new BitSet() : presence;
    if (presence == null) {
      bits.set(first, first + taken);
    }
    EntryField field = changes.field.values();
    changes.field.slots().visit(slot, slot + taken, (changed, rank) -> {
      boolean isAbsent = Entry.isAbsent(field.word0(rank), field.word1(rank));
      if (isAbsent && context.check().isDue(field, rank)) {
        context.check().absent(field, rank, context.indexOf(changes.source, rank));
      }
      bits.set((int) (changed - base), !isAbsent);
    });
    return bits.nextClearBit(first) < first + taken ? bits : null;
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public boolean hasAbsent() {
    return hasAbsent;
  }

  @Override
  public boolean isAbsent(int i) {
    if (!hasAbsent) {
      return false;
    }
    Segment segment = segment(i);
    return !segment.isPresent(segment.firstIndex + (i - segment.slot));
  }

  @Override
  public int lengthBytes(int i) {
    return isAbsent(i) ? 0 : width;
  }

  @Override
  public long totalLengthBytes() {
    return (long) count * width;
  }

  @Override
  public int copy(int i, ByteBuffer target, int at) {
    if (isAbsent(i)) {
      return 0;
    }
    Segment segment = segment(i);
    copy(segment, i - segment.slot, 1, target, at);
    return width;
  }

  @Override
  public int copy(int i, byte[] target, int offset) {
    return copy(i, targets.of(target), offset);
  }

  @Override
  public void copyAll(ByteBuffer target, int at) {
    for (Segment segment : segments) {
      copy(segment, 0, segment.count, target, at + segment.slot * width);
    }
    context.check().takeExtraBytes();
  }

  private void copy(Segment segment, int first, int values, ByteBuffer target, int at) {
    Changes changes = segment.changes;
    if (changes == null) {
      copyBase(segment, first, values, target, at);
      return;
    }
    // Changed values are copied over others that are still in the cache.
    int most = Math.max(1, PIECE_BYTES / width);
    for (int done = 0; done < values; done += most) {
      int count = Math.min(most, values - done);
      int place = at + done * width;
      copyBase(segment, first + done, count, target, place);
      RankedBitmap changed = changes.field.slots();
      long from = segment.firstIndex + first + done;
      long end = changed.rank(from + count);
      for (long rank = changed.rank(from); rank < end; rank += LOOKUPS) {
        copyChanged(changes, rank, (int) Math.min(LOOKUPS, end - rank), from, target, place);
      }
    }
  }

  /**
   * Copies changed values over those of the tables.
   *
   * @param from the slot whose value is copied to {@code at}
   */
  private void copyChanged(
      Changes changes, long firstRank, int changed, long from, ByteBuffer target, int at) {
    changes.field.slots().load(firstRank, changed, slots);
    ByteBuffer sideBySide = values.sideBySide(changes.source, changes.field, changed);
    if (sideBySide != null) {
      for (int k = 0; k < changed; k++) {
        int place = at + (int) (slots[k] - from) * width;
        copySmall(sideBySide, (int) (firstRank + k) * width, target, place);
      }
      return;
    }
    ShardPart part = context.part(changes.source);
    EntryField field = changes.field.values();
    for (int k = 0; k < changed; k++) {
      int place = at + (int) (slots[k] - from) * width;
      values.copy(part, field, firstRank + k, part.indexOf(slots[k]), target, place);
    }
  }

  private void copySmall(ByteBuffer source, int position, ByteBuffer target, int at) {
    boolean isLittle = target.order() == ByteOrder.LITTLE_ENDIAN;
    if (width == Integer.BYTES) {
      int number = source.getInt(position);
      target.putInt(at, isLittle ? number : Integer.reverseBytes(number));
    } else if (width == Long.BYTES) {
      long number = source.getLong(position);
      target.putLong(at, isLittle ? number : Long.reverseBytes(number));
    } else {
      for (int i = 0; i < width; i++) {
        target.put(at + i, source.get(position + i));
      }
    }
  }

  private void copyBase(Segment segment, int first, int values, ByteBuffer target, int at) {
    if (segment.part.field() instanceof BlockField blocks) {
      copyBlocks(segment, blocks, first, values, target, at);
      return;
    }
    if (!(segment.part.field() instanceof FixedRuns field)) {
      Zeros.fill(target, at, (long) values * width);
      return;
    }
    RunRecord run = field.run(segment.run);
    int unitBytes = field.unitBytes();
    long from = (segment.firstIndex + first - run.firstSlot()) * width;
    long to = from + (long) values * width;
    if (context.check().isSettled(field)) {
      copyBytes(segment.part, field, segment.run, from, (int) (to - from), target, at);
      return;
    }
    long next = from;
    while (next < to) {
      long unit = next / unitBytes;
      boolean due = context.check().isDue(field, run.firstUnit() + unit);
      long end = Math.min(to, (unit + 1) * unitBytes);
      if (due) {
        copyDue(segment.part, field, segment.run, next, end, target, at + (int) (next - from));
      } else {
        while (end < to && !context.check().isDue(field, run.firstUnit() + end / unitBytes)) {
          end = Math.min(to, end + unitBytes);
        }
        copyBytes(
            segment.part,
            field,
            segment.run,
            next,
            (int) (end - next),
            target,
            at + (int) (next - from));
      }
      next = end;
    }
  }

  private void copyBlocks(
      Segment segment, BlockField field, int first, int values, ByteBuffer target, int at) {
    long slot = segment.firstIndex + first;
    context.blocks().copy(segment.part, field, slot, values, target, at);
    if (segment.presence != null) {
      for (int i = 0; i < values; i++) {
        if (!segment.isPresent(slot + i)) {
          Zeros.fill(target, at + i * width, width);
        }
      }
    }
  }

  /** Copies bytes of a unit that is not verified yet. */
  private void copyDue(
      ShardPart part,
      FixedRuns field,
      int runOrdinal,
      long from,
      long to,
      ByteBuffer target,
      int at) {
    long unit = from / field.unitBytes();
    long begin = unit * field.unitBytes();
    int unitBytes = (int) Math.min(field.unitBytes(), field.run(runOrdinal).bytes() - begin);
    boolean whole = from == begin && to - from == unitBytes;
    if (whole && target.hasArray()) {
      context
          .check()
          .copyUnit(
              part, field, runOrdinal, unit, unitBytes, target.array(), target.arrayOffset() + at);
    } else {
      byte[] scratch = context.check().scratch();
      context.check().copyUnit(part, field, runOrdinal, unit, unitBytes, scratch, 0);
      target.put(at, scratch, (int) (from - begin), (int) (to - from));
    }
  }

  private void copyBytes(
      ShardPart part,
      FixedRuns field,
      int runOrdinal,
      long from,
      int length,
      ByteBuffer target,
      int at) {
    long position = field.run(runOrdinal).offset() + from;
    int chunk = field.chunk(runOrdinal);
    long place = part.place(chunk, position, length);
    context.table().copy(Place.window(place), Place.position(place), target, at, length);
  }

  @Override
  public ByteBuffer view(int i) {
    if (isAbsent(i)) {
      return ByteBuffer.allocate(0).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }
    Segment segment = segment(i);
    long slot = segment.firstIndex + (i - segment.slot);
    Changes changes = segment.changes;
    if (!(segment.part.field() instanceof FixedRuns field)
        || (changes != null && changes.field.slots().contains(slot))) {
      ByteBuffer own = ByteBuffer.allocate(width);
      copy(i, own, 0);
      return own.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }
    RunRecord run = field.run(segment.run);
    long from = (slot - run.firstSlot()) * width;
    context.check().units(segment.part, field, segment.run, from, from + width);
    int chunk = field.chunk(segment.run);
    long place = segment.part.place(chunk, run.offset() + from, width);
    int window = Place.window(place);
    int position = Place.position(place);
    if (!context.table().crosses(window, position, width)) {
      return context.table().get(window).slice(position, width).order(ByteOrder.LITTLE_ENDIAN);
    }
    ByteBuffer own = ByteBuffer.allocate(width);
    context.table().copy(window, position, own, 0, width);
    return own.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  private Segment segment(int i) {
    Segment segment = segments.get(lastSegment);
    if (i < segment.slot || i >= segment.slot + segment.count) {
      lastSegment = segmentOf(i);
    }
    return segments.get(lastSegment);
  }

  private int segmentOf(int i) {
    int low = 0;
    int high = segments.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (segments.get(middle).slot <= i) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
}
