package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.DecodedBlock;
import io.zrecord.internal.shard.layout.BlockField;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Fills slots with values that are compressed in blocks, which it decodes. Visits each block once,
 * whatever the order of the selection. Long values that are alone in their blocks are left until
 * they are copied, and so is what goes beyond a bound: whoever selects has not asked for lengths
 * yet. Belongs to one thread.
 */
final class BlockSlots {
  /** Values that are put into the order of their slots at a time. */
  private static final int SORTED = 1 << 16;

  private static final int SORTED_SHIFT = 16;

  /** Most bytes of a selection that are decoded before they are copied. */
  private static final int MOST_BYTES = 1 << 28;

  private final ReadContext context;
  private final Slots slots;
  private final DecodedValues values;
  private long[] keys = new long[0];

  BlockSlots(ReadContext context, Slots slots) {
    this.context = context;
    this.slots = slots;
    this.values = context.decoded();
  }

  /** Fills the slots {@code [from, to)}, which are of one shard. */
  void fill(ShardPart part, BlockField field, int from, int to) {
    boolean inOrder = markAbsent(field, from, to);
    BlockReader reader = context.blocks();
    try {
      if (inOrder) {
        for (int k = from; k < to; ) {
          k = isAbsent(k) ? k + 1 : take(part, field, k, to);
        }
      } else {
        values.setUnordered();
        for (int k = from; k < to; k += SORTED) {
          takeSorted(part, field, k, Math.min(to, k + SORTED));
        }
      }
    } finally {
      reader.end();
    }
  }

  /** Decodes a value that was left for later, to a position of the target. */
  void copy(int k, BlockField field, ByteBuffer target, int at) {
    BlockReader reader = context.blocks();
    try {
      reader.find(field, slot(k));
      DecodedBlock block = reader.decoded(context.part(slots.source[k]));
      int start = block.start((int) (slot(k) - reader.firstSlot()));
      target.put(at, block.bytes(), start, slots.length[k]);
    } finally {
      reader.end();
    }
  }

  /** Marks the values that are absent. Returns whether the slots of the others rise. */
  private boolean markAbsent(BlockField field, int from, int to) {
    boolean bits = field.presence().exist();
    boolean inOrder = true;
    long before = -1;
    for (int k = from; k < to; k++) {
      long slot = slot(k);
      if (bits && !Validity.isPresent(context.check().tables(), field.presence(), slot)) {
        slots.setAbsent(k);
      } else {
        slots.setDecoded(k, WindowTable.EMPTY, 0, 0);
        inOrder &= slot >= before;
        before = slot;
      }
    }
    return inOrder;
  }

  private long slot(int k) {
    return slots.index[k];
  }

  private boolean isAbsent(int k) {
    return slots.state[k] == Slots.ABSENT;
  }

  private void takeSorted(ShardPart part, BlockField field, int from, int to) {
    if (keys.length < to - from) {
      keys = new long[Math.min(SORTED, Integer.highestOneBit(2 * (to - from) - 1))];
    }
    int count = 0;
    for (int k = from; k < to; k++) {
      if (!isAbsent(k)) {
        keys[count++] = slot(k) << SORTED_SHIFT | (k - from);
      }
    }
    Arrays.sort(keys, 0, count);
    for (int i = 0; i < count; i++) {
      int k = from + (int) (keys[i] & (SORTED - 1));
      take(part, field, k, k + 1);
    }
  }

  /**
   * Takes a value and the present ones after it that are next to it in the same block. Returns the
   * first value that was not taken.
   */
  private int take(ShardPart part, BlockField field, int from, int end) {
    long slot = slot(from);
    BlockReader reader = context.blocks();
    reader.find(field, slot);
    int to = from + 1;
    while (to < end
        && slot(to) == slot + (to - from)
        && slot(to) < reader.endSlot()
        && !isAbsent(to)) {
      to++;
    }
    if (reader.isLongAlone()) {
      slots.setDeferred(from, reader.rawBytes());
      return to;
    }
    DecodedBlock block = reader.decoded(part);
    int first = (int) (slot - reader.firstSlot());
    int start = block.start(first);
    int length = block.end(first + to - from - 1) - start;
    if (length == 0) {
      return to;
    }
    if (values.totalBytes() + length > MOST_BYTES) {
      for (int k = from, i = first; k < to; k++, i++) {
        slots.setDeferred(k, block.end(i) - block.start(i));
      }
      return to;
    }
    values.add(block.bytes(), start, length);
    int window = values.window();
    int shift = values.end() - length - start;
    for (int k = from, i = first; k < to; k++, i++) {
      int at = block.start(i);
      int bytes = block.end(i) - at;
      if (bytes > 0) {
        slots.setDecoded(k, window, at + shift, bytes);
      }
    }
    return to;
  }
}
