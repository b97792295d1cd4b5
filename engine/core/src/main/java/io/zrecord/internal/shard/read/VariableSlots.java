package io.zrecord.internal.shard.read;

import io.zrecord.internal.shard.layout.VariableField;

/** Fills slots with the places of values in variable runs. Belongs to one thread. */
final class VariableSlots {
  /** Number of places looked up before the first of them is used. */
  private static final int LOOKUPS = 256;

  private final ReadContext context;
  private final Slots slots;
  private final CompressedSlots compressed;
  private final int fixedWidth;
  private final long[] starts = new long[LOOKUPS];
  private final int[] lengths = new int[LOOKUPS];
  private final int[] runs = new int[LOOKUPS];

  VariableSlots(ReadContext context, Slots slots, CompressedSlots compressed) {
    this.context = context;
    this.slots = slots;
    this.compressed = compressed;
    this.fixedWidth = context.fixedWidth();
  }

  /** Fills the slots {@code [from, to)}, which are of one shard. */
  void fill(ShardPart part, VariableField field, int from, int to) {
    if (context.decodes(field)) {
      slots.expectPayloads();
    }
    for (int block = from; block < to; block += LOOKUPS) {
      int end = Math.min(to, block + LOOKUPS);
      load(field, block, end);
      fillBlock(part, field, block, end);
    }
  }

  private void load(VariableField field, int from, int to) {
    long[] index = slots.index;
    int next = field.load(index, from, from, to, starts, lengths, runs);
    while (next < to) {
      context.check().tables().block(field, field.runOf(index[next]), index[next]);
      next = field.load(index, from, next, to, starts, lengths, runs);
    }
  }

  private void fillBlock(ShardPart part, VariableField field, int from, int to) {
    BlockCheck check = context.check();
    boolean raw = !context.decodes(field);
    boolean settled = check.isSettled(field);
    int[] wholeWindows = part.wholeWindows();
    long bytes = 0;
    for (int k = from; k < to; k++) {
      int run = runs[k - from];
      int stored = lengths[k - from];
      int whole = wholeWindows[field.chunk(run)];
      if (raw
          && whole >= 0
          && stored > 0
          && (fixedWidth < 0 || stored == fixedWidth)
          && (settled || !check.isDue(field, run, slots.index[k]))) {
        slots.window[k] = whole;
        slots.position[k] = (int) starts[k - from];
        slots.length[k] = stored;
        slots.state[k] = 0;
        bytes += stored;
      } else {
        fillOne(part, field, k, run, starts[k - from], stored);
      }
    }
    slots.totalBytes += bytes;
    slots.storedBytes += bytes;
  }

  private void fillOne(
      ShardPart part, VariableField field, int k, int run, long start, int stored) {
    BlockCheck check = context.check();
    long slot = slots.index[k];
    if (stored == 0
        && field.presence().exist()
        && !Validity.isPresent(check.tables(), field.presence(), slot)) {
      slots.setAbsent(k);
      return;
    }
    boolean raw = !context.decodes(field);
    boolean due = check.isDue(field, run, slot);
    slots.place(k, part, field.chunk(run), start, stored);
    slots.storedBytes += stored;
    if (due && raw && stored > 0 && field.run(run).unitValues() == 1) {
      slots.setPresent(k, Slots.UNVERIFIED);
      return;
    }
    if (due) {
      check.unit(part, field, run, slot);
    }
    byte flags =
        raw ? 0 : compressed.unwrap(k, field.codec(), part, field.chunk(run), start, stored);
    slots.setPresent(k, flags);
  }
}
