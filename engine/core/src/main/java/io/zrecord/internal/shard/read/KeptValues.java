package io.zrecord.internal.shard.read;

import java.nio.ByteBuffer;

/**
 * Copies selected values out of what was fetched for them, so that this can be dropped before the
 * rest of the selection is fetched. Belongs to one thread.
 */
final class KeptValues {
  private final ReadContext context;
  private final Slots slots;
  private ByteBuffer value = ByteBuffer.allocate(0);

  KeptValues(ReadContext context, Slots slots) {
    this.context = context;
    this.slots = slots;
  }

  /**
   * Copies the values of the slots {@code [from, to)}, which are verified and decoded.
   *
   * @param selection of these slots
   */
  void keep(int from, int to, Selection selection) {
    DecodedValues values = context.decoded();
    values.setUnordered();
    for (int k = from; k < to; k++) {
      int length = slots.length[k];
      if (slots.state[k] == Slots.ABSENT || values.owns(slots.window[k])) {
        continue;
      }
      if (value.capacity() < length) {
        value = ByteBuffer.allocate(Math.max(length, Math.min(1 << 20, 2 * value.capacity())));
      }
      selection.copy(k, value, 0);
      if (length > 0) {
        values.add(value.array(), 0, length);
        slots.move(k, values.window(), values.end() - length);
      } else {
        slots.move(k, WindowTable.EMPTY, 0);
      }
    }
  }
}
