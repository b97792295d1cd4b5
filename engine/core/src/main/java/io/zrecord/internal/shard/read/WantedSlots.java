package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.FixedRuns;
import io.zrecord.internal.shard.layout.OpenField;
import io.zrecord.internal.shard.layout.VariableField;
import io.zrecord.read.Verification;

/**
 * Asks for the bytes of slots before any of them is read: those of a value, or of the unit that its
 * checksum covers. Belongs to one thread.
 */
final class WantedSlots {
  private final ReadContext context;
  private final boolean verifies;

  WantedSlots(ReadContext context) {
    this.context = context;
    this.verifies = context.verification() != Verification.NEVER;
  }

  /** Asks for slots of one shard. */
  void want(ShardPart part, long[] slots, int from, int to) {
    OpenField field = part.field();
    for (int k = from; k < to; k++) {
      if (field instanceof VariableField variable) {
        wantVariable(part, variable, slots[k]);
      } else if (field instanceof FixedRuns fixed) {
        wantFixed(part, fixed, slots[k]);
      } else if (field instanceof BlockField blocks) {
        context.blocks().find(blocks, slots[k]);
        context.blocks().want(context.fetcher(), part, blocks);
      } else if (field instanceof EntryField entries) {
        wantEntry(part, entries, slots[k]);
      }
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
    context.check().tables().entries(field, new long[] {slot}, 0, 1);
    long word0 = field.word0(slot);
    long word1 = field.word1(slot);
    if (!Entry.isAbsent(word0, word1)) {
      int chunk = field.chunkOf(slot, word0, word1);
      context.fetcher().want(part, chunk, word0, word0 + Entry.physicalLength(word1));
    }
  }
}
