package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.DecodedBlock;
import io.zrecord.internal.shard.BlockField;
import java.util.Arrays;

/**
 * Decodes the selected values of fields with blocks: visits each block once, whatever the order of
 * the selection. Belongs to one thread.
 */
final class BlockSlots {
  /** Values that are put into the order of their slots at a time. */
  private static final int SORTED = 1 << 16;

  private static final int SORTED_SHIFT = 16;

  private final ReadContext context;
  private final DecodedValues values;
  private long[] keys = new long[0];

  /** The selection to fill. */
  interface Target {
    /** Returns the slot in the shard of a selected value. */
    long slot(int k);

    boolean isAbsent(int k);

    void setAbsent(int k);

    void setDecoded(int k, int window, int position, int length);
  }

  BlockSlots(ReadContext context, DecodedValues values) {
    this.context = context;
    this.values = values;
  }

  /**
   * Decodes the values {@code [from, to)} of a selection, which are in one shard.
   *
   * @param shardFirst index of the first record of the shard
   */
  void resolve(
      ShardPart part, BlockField field, long shardFirst, int from, int to, Target target) {
    boolean inOrder = markAbsent(field, from, to, target);
    BlockReader reader = context.blocks();
    try {
      if (inOrder) {
        for (int k = from; k < to; ) {
          k = target.isAbsent(k) ? k + 1 : take(part, field, shardFirst, k, to, target);
        }
      } else {
        values.setUnordered();
        for (int k = from; k < to; k += SORTED) {
          takeSorted(part, field, shardFirst, k, Math.min(to, k + SORTED), target);
        }
      }
    } finally {
      reader.end();
    }
  }

  /** Marks the values that are absent. Returns whether the slots of the others rise. */
  private boolean markAbsent(BlockField field, int from, int to, Target target) {
    boolean bits = field.presence().isThere();
    boolean inOrder = true;
    long before = -1;
    for (int k = from; k < to; k++) {
      long slot = target.slot(k);
      if (bits && !Validity.isPresent(context.check(), field.presence(), slot)) {
        target.setAbsent(k);
      } else {
        target.setDecoded(k, WindowTable.EMPTY, 0, 0);
        inOrder &= slot >= before;
        before = slot;
      }
    }
    return inOrder;
  }

  private void takeSorted(
      ShardPart part, BlockField field, long shardFirst, int from, int to, Target target) {
    if (keys.length < to - from) {
      keys = new long[Math.min(SORTED, Integer.highestOneBit(2 * (to - from) - 1))];
    }
    int count = 0;
    for (int k = from; k < to; k++) {
      if (!target.isAbsent(k)) {
        keys[count++] = target.slot(k) << SORTED_SHIFT | (k - from);
      }
    }
    Arrays.sort(keys, 0, count);
    for (int i = 0; i < count; i++) {
      int k = from + (int) (keys[i] & (SORTED - 1));
      take(part, field, shardFirst, k, k + 1, target);
    }
  }

  /**
   * Takes a value and the present ones after it that are next to it in the same block. Returns the
   * first value that was not taken.
   */
  private int take(
      ShardPart part, BlockField field, long shardFirst, int from, int end, Target target) {
    long slot = target.slot(from);
    BlockReader reader = context.blocks();
    reader.find(field, slot);
    int to = from + 1;
    while (to < end
        && target.slot(to) == slot + (to - from)
        && target.slot(to) < reader.endSlot()
        && !target.isAbsent(to)) {
      to++;
    }
    DecodedBlock block = reader.decoded(part, shardFirst);
    int first = (int) (slot - reader.firstSlot());
    int start = block.start(first);
    int length = block.end(first + to - from - 1) - start;
    if (length == 0) {
      return to;
    }
    values.add(block.bytes(), start, length);
    int window = values.window();
    int shift = values.end() - length - start;
    for (int k = from, i = first; k < to; k++, i++) {
      int at = block.start(i);
      int bytes = block.end(i) - at;
      if (bytes > 0) {
        target.setDecoded(k, window, at + shift, bytes);
      }
    }
    return to;
  }
}
