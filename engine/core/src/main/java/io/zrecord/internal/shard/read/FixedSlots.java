package io.zrecord.internal.shard.read;

import io.zrecord.internal.shard.layout.FixedRuns;

/** Fills slots with the places of values in runs of one width. Belongs to one thread. */
final class FixedSlots {
  private final ReadContext context;
  private final Slots slots;

  FixedSlots(ReadContext context, Slots slots) {
    this.context = context;
    this.slots = slots;
  }

  /** Fills the slots {@code [from, to)}, which are of one shard. */
  void fill(ShardPart part, FixedRuns field, int from, int to) {
    int width = field.widthBytes();
    boolean plain = !field.presence().exist() && context.check().isSettled(field);
    int[] wholeWindows = part.wholeWindows();
    long[] index = slots.index;
    for (int k = from; k < to; k++) {
      int run = field.runOf(index[k]);
      int whole = wholeWindows[field.chunk(run)];
      if (plain && whole >= 0) {
        slots.window[k] = whole;
        slots.position[k] = (int) field.position(run, index[k]);
        slots.length[k] = width;
        slots.state[k] = 0;
      } else {
        fillOne(part, field, k, run);
      }
    }
    slots.storedBytes += (long) (to - from) * width;
  }

  private void fillOne(ShardPart part, FixedRuns field, int k, int run) {
    long slot = slots.index[k];
    if (field.presence().exist()
        && !Validity.isPresent(context.check().tables(), field.presence(), slot)) {
      slots.setAbsent(k);
      return;
    }
    int width = field.widthBytes();
    long at = field.position(run, slot);
    if (field.hasChecksums()) {
      long inRun = at - field.run(run).offset();
      context.check().units(part, field, run, inRun, inRun + width);
    }
    slots.place(k, part, field.chunk(run), at, width);
    slots.setPresent(k, (byte) 0);
  }
}
