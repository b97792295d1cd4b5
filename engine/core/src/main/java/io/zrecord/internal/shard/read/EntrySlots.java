package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.shard.layout.EntryField;

/** Fills slots with the places of values that have entries. Belongs to one thread. */
final class EntrySlots {
  /** Number of entries looked up before the first of them is used. */
  private static final int LOOKUPS = 256;

  private final ReadContext context;
  private final Slots slots;
  private final CompressedSlots compressed;
  private final int fixedWidth;
  private final long[] words = new long[2 * LOOKUPS];

  EntrySlots(ReadContext context, Slots slots, CompressedSlots compressed) {
    this.context = context;
    this.slots = slots;
    this.compressed = compressed;
    this.fixedWidth = context.fixedWidth();
  }

  /** Fills the slots {@code [from, to)}, which are of one shard. */
  void fill(ShardPart part, EntryField field, int from, int to) {
    for (int block = from; block < to; block += LOOKUPS) {
      fillBlock(part, field, block, Math.min(to, block + LOOKUPS));
    }
  }

  private void fillBlock(ShardPart part, EntryField field, int from, int to) {
    long[] index = slots.index;
    context.check().tables().entries(field, index, from, to);
    field.load(index, from, to, words);
    if (context.decodes(field)) {
      slots.expectPayloads();
      for (int k = from; k < to; k++) {
        fillOne(part, field, k, words[2 * (k - from)], words[2 * (k - from) + 1]);
      }
      return;
    }
    // The usual case, a present value in a chunk of one window, needs no call. All other cases take
    // the long way.
    BlockCheck check = context.check();
    boolean settled = check.isSettled(field);
    int[] wholeWindows = part.wholeWindows();
    long[] chunkEnds = field.chunkEnds();
    long bytes = 0;
    for (int k = from; k < to; k++) {
      long word0 = words[2 * (k - from)];
      long word1 = words[2 * (k - from) + 1];
      int chunk = Entry.chunkId(word1);
      int stored = Entry.physicalLength(word1);
      if (chunk >= 0
          && chunk < wholeWindows.length
          && wholeWindows[chunk] >= 0
          && stored > 0
          && word0 >= FileHeader.BYTES
          && (word0 & 7) == 0
          && word0 <= chunkEnds[chunk] - stored
          && (fixedWidth < 0 || stored == fixedWidth)
          && (settled || !check.isDue(field, index[k]))) {
        slots.window[k] = wholeWindows[chunk];
        slots.position[k] = (int) word0;
        slots.length[k] = stored;
        slots.state[k] = 0;
        bytes += stored;
      } else {
        fillOne(part, field, k, word0, word1);
      }
    }
    slots.totalBytes += bytes;
    slots.storedBytes += bytes;
  }

  private void fillOne(ShardPart part, EntryField field, int k, long word0, long word1) {
    BlockCheck check = context.check();
    long slot = slots.index[k];
    boolean due = check.isDue(field, slot);
    if (Entry.isAbsent(word0, word1)) {
      if (due) {
        check.absent(field, slot, slots.globalIndex(k));
      }
      slots.setAbsent(k);
      return;
    }
    int chunk = field.chunkOf(slot, word0, word1);
    int stored = Entry.physicalLength(word1);
    slots.place(k, part, chunk, word0, stored);
    slots.storedBytes += stored;
    boolean raw = !context.decodes(field);
    if (raw && stored > 0) {
      slots.setPresent(k, due ? Slots.UNVERIFIED : 0);
      return;
    }
    // Verifying an empty value costs nothing. Its emptiness is verified here, because an empty
    // value is perhaps never copied.
    if (due) {
      check.value(field, slot, slots.globalIndex(k), slots.window[k], slots.position[k], stored);
    }
    slots.setPresent(k, raw ? 0 : compressed.unwrap(k, field.codec(), part, chunk, word0, stored));
  }
}
