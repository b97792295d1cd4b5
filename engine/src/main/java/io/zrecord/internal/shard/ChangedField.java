package io.zrecord.internal.shard;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;

/**
 * The changed values of a field in a shard.
 *
 * @param slots the slots whose values were changed
 * @param values their values, by the rank of the slot
 * @param type type of an element, from which readers convert
 * @param hasAbsent whether some of the values are absent
 */
public record ChangedField(
    RankedBitmap slots, EntryField values, ElementType type, boolean hasAbsent) {

  static ChangedField of(RankedBitmap slots, EntryField values, ElementType type) {
    boolean hasAbsent = false;
    for (long rank = 0; rank < slots.count() && !hasAbsent; rank++) {
      hasAbsent = Entry.isAbsent(values.word0(rank), values.word1(rank));
    }
    return new ChangedField(slots, values, type, hasAbsent);
  }

  /** Tells whether the stored bytes are those of values of a field, without a conversion. */
  public boolean isOf(FieldSpec spec) {
    return type.widthBytes().equals(spec.type().widthBytes());
  }
}
