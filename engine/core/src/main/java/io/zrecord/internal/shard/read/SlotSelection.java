package io.zrecord.internal.shard.read;

import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.fetch.Prefetched;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.FixedRuns;
import io.zrecord.internal.shard.layout.PromotedField;
import io.zrecord.internal.shard.layout.VariableField;
import io.zrecord.read.Verification;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Any records: a slot for each record holds the window and the position of its bytes. Selecting
 * fills the slots and looks entries up a block at a time, so that cache misses overlap.
 * {@link SlotCopies} has the values.
 *
 * <p>Compressed values are verified when they are selected: their length precedes them and must not
 * be trusted before. Belongs to one thread.
 */
final class SlotSelection implements Selection {
  /** Most bytes of files that are not mapped that a selection holds, besides its values. */
  private static final long MOST_BYTES_HELD = 32 << 20;

  private final ReadContext context;
  private final int fixedWidth;
  private final Slots slots;
  private final VariableSlots variable;
  private final EntrySlots entries;
  private final FixedSlots fixed;
  private final BlockSlots blocks;
  private final SubstitutedSlots substituted;
  private final SlotCopies copies;
  private final WantedSlots wanted;

  /** Places of the changed values of a selection in rising order, and then its count. */
  private int[] changed = new int[0];

  private int nextChanged;

  SlotSelection(ReadContext context) {
    this.context = context;
    this.fixedWidth = context.fixedWidth();
    this.slots = new Slots(context);
    CompressedSlots compressed = new CompressedSlots(context, slots);
    this.variable = new VariableSlots(context, slots, compressed);
    this.entries = new EntrySlots(context, slots, compressed);
    this.fixed = new FixedSlots(context, slots);
    this.blocks = new BlockSlots(context, slots);
    this.substituted = new SubstitutedSlots(context, slots);
    this.copies = new SlotCopies(context, slots, blocks);
    this.wanted = new WantedSlots(context, slots, substituted);
  }

  /** Drops the selection. */
  void clear() {
    slots.begin(0);
  }

  /** Selects any records in any order. */
  void select(long[] indices, int from, int newCount) {
    find(indices, from, newCount);
    fill();
  }

  /** Asks for the bytes of records, without waiting, and selects none. */
  void ask(long[] indices, List<Prefetched.Range> asked) {
    find(indices, 0, indices.length);
    int count = slots.count;
    slots.count = 0;
    if (count > 0 && context.isRemote(slots.source[0])) {
      prepare(count);
      wanted.want(changed, 0, 0, count, Long.MAX_VALUE);
      wanted.askForPromoted(asked);
      context.fetcher().ask(asked);
    }
  }

  private void find(long[] indices, int from, int newCount) {
    slots.begin(newCount);
    if (context.shards().count() == 1) {
      // Ordinals of shards in the slots are then 0, except where values were changed.
      if (newCount > 0 && context.part(0).patch() != null) {
        Arrays.fill(slots.source, 0, newCount, 0);
      }
      requireWithin(indices, from, newCount);
      System.arraycopy(indices, from, slots.index, 0, newCount);
    } else {
      findShards(indices, from, newCount);
    }
  }

  private void requireWithin(long[] indices, int from, int newCount) {
    long last = context.shards().length() - 1;
    long signs = 0;
    for (int k = from; k < from + newCount; k++) {
      signs |= indices[k] | (last - indices[k]);
    }
    if (signs < 0) {
      slots.count = 0;
      context.shards().requireWithin(Arrays.copyOfRange(indices, from, from + newCount));
    }
  }

  private void findShards(long[] indices, int from, int newCount) {
    ShardList shards = context.shards();
    long end = shards.length();
    int shard = 0;
    long low = 0;
    long high = 0;
    for (int k = 0; k < newCount; k++) {
      long global = indices[from + k];
      if (global < low || global >= high) {
        if (global < 0 || global >= end) {
          slots.count = 0;
          throw shards.outOfBounds(global);
        }
        shard = shards.shardOf(global);
        low = shards.firstIndex(shard);
        high = shards.firstIndex(shard + 1);
      }
      slots.source[k] = shard;
      slots.index[k] = global - low;
    }
  }

  /** Selects consecutive records, which must be within the dataset. */
  void selectRange(long firstIndex, int newCount) {
    slots.begin(newCount);
    ShardList shards = context.shards();
    int k = 0;
    while (k < newCount) {
      int shard = shards.shardOf(firstIndex + k);
      long low = shards.firstIndex(shard);
      int end = (int) Math.min(newCount, shards.firstIndex(shard + 1) - firstIndex);
      Arrays.fill(slots.source, k, end, shard);
      for (; k < end; k++) {
        slots.index[k] = firstIndex + k - low;
      }
    }
    fill();
  }

  private void fill() {
    int selected = slots.count;
    slots.count = 0;
    long tableBytes = selected > 0 && context.isRemote(slots.source[0])
        ? fillRemote(selected)
        : fill(0, selected, false);
    slots.count = selected;
    if (fixedWidth >= 0) {
      slots.totalBytes = (long) selected * fixedWidth;
    }
    context.metrics().values.add(selected);
    context
        .metrics()
        .bytesRead
        .add(tableBytes + slots.storedBytes + context.check().takeExtraBytes());
    context.metrics().bytesDelivered.add(slots.totalBytes);
  }

  /**
   * Fills slots whose bytes take requests. All places are known before bytes are asked for. Where
   * the bytes take more memory than a selection may hold, values are copied out of them, a part of
   * the selection after the other.
   */
  private long fillRemote(int selected) {
    boolean isPatched = prepare(selected);
    List<Prefetched.Range> asked = new ArrayList<>();
    long tableBytes = 0;
    try {
      for (int from = 0, to; from < selected; from = to) {
        to = wanted.want(changed, nextChanged, from, selected, MOST_BYTES_HELD);
        wanted.askForPromoted(asked);
        context.fetcher().fetch();
        tableBytes += fill(from, to, isPatched);
        if (to < selected || from > 0) {
          new KeptValues(context, slots).keep(from, to, this);
          context.dropFetched();
        }
        asked.forEach(context.prefetched()::drop);
        asked.clear();
      }
    } finally {
      asked.forEach(context.prefetched()::drop);
    }
    return tableBytes;
  }

  /**
   * Opens the shards of all slots, and puts slots in the place of indices. Returns whether a shard
   * has a patch.
   */
  private boolean prepare(int selected) {
    wanted.begin();
    if (context.shards().count() > 1) {
      context.open(slots.source, selected);
    }
    for (int k = 0; k < selected; k++) {
      if (context.part(slots.source[k]).patch() != null) {
        findChanged(k, selected);
        return true;
      }
    }
    findNoneChanged(selected);
    return false;
  }

  private void findNoneChanged(int selected) {
    if (changed.length == 0) {
      changed = new int[1];
    }
    changed[0] = selected;
    nextChanged = 0;
  }

  /**
   * Fills slots. Returns the bytes of tables that were read.
   *
   * @param isLocated whether changed values were found, up to the last slot selected
   */
  private long fill(int first, int end, boolean isLocated) {
    boolean isPatched = isLocated;
    long tableBytes = 0;
    for (int from = first; from < end; ) {
      int shard = slots.source[from];
      int to = context.shards().count() == 1 ? end : endOfShard(from, end);
      ShardPart part = context.part(shard);
      if (part.patch() != null && !isPatched) {
        isPatched = true;
        findChanged(from, end);
      }
      tableBytes += isPatched && changed[nextChanged] < to
          ? fillPatched(part, shard, from, to)
          : fill(part, from, to);
      from = to;
    }
    return tableBytes;
  }

  /** Fills slots of one shard. Returns the bytes of tables that were read. */
  private long fill(ShardPart part, int from, int to) {
    if (part.field() instanceof VariableField field) {
      variable.fill(part, field, from, to);
      return (to - from) * (long) Integer.BYTES;
    }
    if (part.field() instanceof EntryField field) {
      entries.fill(part, field, from, to);
      return (to - from)
          * (field.hasChecksums() && context.verification() != Verification.NEVER ? 20L : 16L);
    }
    if (part.field() instanceof FixedRuns field) {
      fixed.fill(part, field, from, to);
    } else if (part.field() instanceof BlockField field) {
      blocks.fill(part, field, from, to);
    } else if (part.field() instanceof PromotedField field) {
      substituted.fillPromoted(field, from, to);
    } else {
      substituted.fillInitial(from, to);
    }
    return 0;
  }

  /**
   * Puts slots in the place of indices, and finds those whose values were changed. A loop over the
   * records of all shards does nothing but leave out most of the others.
   */
  private void findChanged(int from, int selected) {
    if (changed.length <= selected) {
      changed = new int[slots.index.length + 1];
    }
    int[] source = slots.source;
    long[] index = slots.index;
    int[] found = changed;
    int maybe = 0;
    for (int k = from; k < selected; k++) {
      ShardPart part = context.part(source[k]);
      long slot = part.slotOf(index[k]);
      index[k] = slot;
      found[maybe] = k;
      maybe += part.mayBeChanged(slot) ? 1 : 0;
    }
    int count = 0;
    for (int i = 0; i < maybe; i++) {
      int k = found[i];
      ChangedField field = Objects.requireNonNull(context.part(source[k]).changed());
      found[count] = k;
      count += field.slots().contains(index[k]) ? 1 : 0;
    }
    found[count] = selected;
    nextChanged = 0;
  }

  /** Fills slots of one shard, some of which {@link #findChanged} has found. */
  private long fillPatched(ShardPart part, int shard, int from, int to) {
    ChangedField field = Objects.requireNonNull(part.changed());
    int source = context.changed(shard);
    int first = nextChanged;
    while (changed[nextChanged] < to) {
      nextChanged++;
    }
    ByteBuffer values = fixedWidth < 0 ? null : sideBySide(source, field, nextChanged - first);
    int window = values == null ? WindowTable.EMPTY : context.part(source).window(values);
    long tableBytes = 0;
    int begin = from;
    for (int i = first; i < nextChanged; ) {
      int at = changed[i];
      if (begin < at) {
        tableBytes += fill(part, begin, at);
      }
      for (begin = at; i < nextChanged && changed[i] == begin; i++, begin++) {
        slots.index[begin] = field.slots().rank(slots.index[begin]);
        slots.source[begin] = source;
      }
      if (values != null) {
        place(field, window, at, begin);
      } else if (field.isOf(context.spec())) {
        tableBytes += fill(context.part(source), at, begin);
      } else {
        substituted.fillChanged(context.part(source), field, at, begin);
      }
    }
    return begin < to ? tableBytes + fill(part, begin, to) : tableBytes;
  }

  private @Nullable ByteBuffer sideBySide(int source, ChangedField field, int count) {
    ChangedValues values = context.changedValues();
    if (!context.isRemote(0)) {
      return values.sideBySide(source, field, count);
    }
    ByteBuffer here = values.sideBySide(field);
    return here == null && wanted.areAllWanted(source) ? values.put(source, field) : here;
  }

  /** Fills slots with values that lie side by side. */
  private void place(ChangedField field, int window, int from, int to) {
    for (int k = from; k < to; k++) {
      long rank = slots.index[k];
      if (field.isAbsent(rank)) {
        slots.setAbsent(k);
      } else {
        slots.setPlain(k, window, (int) rank * fixedWidth);
      }
    }
  }

  /** Returns the length of a value of a promoted type. */
  int promotedLength(PromotedField field, int shard, long slot) {
    return substituted.promotedLength(field, shard, slot);
  }

  private int endOfShard(int from, int selected) {
    int to = from + 1;
    while (to < selected && slots.source[to] == slots.source[from]) {
      to++;
    }
    return to;
  }

  @Override
  public int count() {
    return slots.count;
  }

  @Override
  public boolean hasAbsent() {
    return slots.absentCount > 0;
  }

  @Override
  public boolean isAbsent(int i) {
    return slots.state[i] == Slots.ABSENT;
  }

  @Override
  public int lengthBytes(int i) {
    return slots.length[i];
  }

  @Override
  public long totalLengthBytes() {
    return slots.totalBytes;
  }

  @Override
  public int copy(int i, ByteBuffer target, int at) {
    return copies.copy(i, target, at);
  }

  @Override
  public int copy(int i, byte[] target, int offset) {
    return copies.copy(i, target, offset);
  }

  @Override
  public void copyAll(ByteBuffer target, int at) {
    copies.copyAll(target, at);
  }

  @Override
  public ByteBuffer view(int i) {
    return copies.view(i);
  }
}
