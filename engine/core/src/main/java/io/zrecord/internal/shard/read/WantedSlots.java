package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.shard.fetch.Prefetched;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.FixedRuns;
import io.zrecord.internal.shard.layout.OpenField;
import io.zrecord.internal.shard.layout.PromotedField;
import io.zrecord.internal.shard.layout.VariableField;
import io.zrecord.read.Verification;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Asks for the bytes of slots before any of them is read: those of a value, or of the unit that its
 * checksum covers. Whatever a selection reads of files that are not mapped is wanted here, changed
 * values and values of a promoted type included. Belongs to one thread.
 */
final class WantedSlots {
  /** Most bytes of the changed values of a shard that are fetched to be put side by side. */
  private static final long MOST_BYTES_SIDE_BY_SIDE = 8 << 20;

  private final ReadContext context;
  private final Slots slots;
  private final SubstitutedSlots substituted;
  private final boolean verifies;
  private final Map<Integer, List<Long>> promoted = new LinkedHashMap<>();
  private final Set<Integer> sideBySide = new HashSet<>();

  WantedSlots(ReadContext context, Slots slots, SubstitutedSlots substituted) {
    this.context = context;
    this.slots = slots;
    this.substituted = substituted;
    this.verifies = context.verification() != Verification.NEVER;
  }

  /** Begins a selection. */
  void begin() {
    promoted.clear();
    sideBySide.clear();
  }

  /**
   * Asks for slots, in order, until they take as many bytes in memory as they may.
   *
   * @param changed rising places of changed values, and then {@code end}
   * @param firstChanged place in {@code changed} of the first of them that is not before
   *     {@code from}
   * @return the slot after the last that was asked for; at least one is
   */
  int want(int[] changed, int firstChanged, int from, int end, long mostBytes) {
    int nextChanged = firstChanged;
    for (int k = from; k < end; k++) {
      int shard = slots.source[k];
      ShardPart part = context.part(shard);
      if (changed[nextChanged] == k) {
        nextChanged++;
        wantChanged(shard, Objects.requireNonNull(part.changed()), slots.index[k]);
      } else if (part.field() instanceof PromotedField) {
        wantPromoted(shard, slots.index[k]);
      } else {
        want(part, slots.index[k]);
      }
      if (context.fetcher().isFull(mostBytes)) {
        return k + 1;
      }
    }
    return end;
  }

  /**
   * Asks for the wanted values of promoted types, shard by shard, without waiting.
   *
   * @param asked takes the ranges, which the caller drops, also after a failure
   */
  void askForPromoted(List<Prefetched.Range> asked) {
    promoted.forEach((shard, found) -> {
      PromotedField field = (PromotedField) context.part(shard).field();
      long[] ofShard = found.stream().mapToLong(slot -> slot).toArray();
      substituted.ask(field, shard, ofShard, asked);
    });
    promoted.clear();
  }

  /** Tells whether all changed values of a shard are on their way, to be put side by side. */
  boolean areAllWanted(int source) {
    return sideBySide.contains(source);
  }

  private void wantPromoted(int shard, long slot) {
    // A scan reads regions, in order.
    if (!context.table().isReadInOrder()) {
      promoted.computeIfAbsent(shard, ordinal -> new ArrayList<>()).add(slot);
    }
  }

  private void wantChanged(int shard, ChangedField field, long slot) {
    int source = context.changed(shard);
    ChangedValues values = context.changedValues();
    if (sideBySide.contains(source) || values.sideBySide(field) != null) {
      return;
    }
    ShardPart part = context.part(source);
    long count = field.slots().count();
    boolean wantsAll =
        count * Entry.BYTES <= MOST_BYTES_SIDE_BY_SIDE && values.isWorthSideBySide(field, 1);
    if (wantsAll) {
      sideBySide.add(source);
    }
    long first = wantsAll ? 0 : field.slots().rank(slot);
    long end = wantsAll ? count : first + 1;
    for (long rank = first; rank < end; rank++) {
      wantEntry(part, field.values(), rank);
    }
  }

  private void want(ShardPart part, long slot) {
    OpenField field = part.field();
    if (field instanceof VariableField variable) {
      wantVariable(part, variable, slot);
    } else if (field instanceof FixedRuns fixed) {
      wantFixed(part, fixed, slot);
    } else if (field instanceof BlockField blocks) {
      context.blocks().find(blocks, slot);
      context.blocks().want(context.fetcher(), part, blocks);
    } else if (field instanceof EntryField entries) {
      wantEntry(part, entries, slot);
    }
  }

  private void wantVariable(ShardPart part, VariableField field, long slot) {
    int run = field.runOf(slot);
    context.check().tables().block(field, run, slot);
    long first = slot;
    long last = slot;
    if (verifies && field.hasChecksums()) {
      first = field.unitSlot(run, slot);
      last = field.unitEndSlot(run, slot) - 1;
    }
    context.fetcher().want(part, field.chunk(run), field.start(run, first), field.end(run, last));
  }

  private void wantFixed(ShardPart part, FixedRuns field, long slot) {
    int run = field.runOf(slot);
    long begin = field.run(run).offset();
    long from = field.position(run, slot) - begin;
    long to = from + field.widthBytes();
    if (verifies && field.hasChecksums()) {
      int unit = field.unitBytes();
      from = from / unit * unit;
      to = Math.min(field.run(run).bytes(), (to + unit - 1) / unit * unit);
    }
    context.fetcher().want(part, field.chunk(run), begin + from, begin + to);
  }

  private void wantEntry(ShardPart part, EntryField field, long slot) {
    context.check().tables().entryUnit(field, EntryUnits.unitOf(slot));
    long word0 = field.word0(slot);
    long word1 = field.word1(slot);
    if (!Entry.isAbsent(word0, word1)) {
      int chunk = field.chunkOf(slot, word0, word1);
      context.fetcher().want(part, chunk, word0, word0 + Entry.physicalLength(word1));
    }
  }
}
