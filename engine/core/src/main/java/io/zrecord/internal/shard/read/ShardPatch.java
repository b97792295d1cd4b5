package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import org.jspecify.annotations.Nullable;

/**
 * What a patch says of one field of a shard.
 *
 * @param deleted the slots of deleted records; null if there are none
 * @param changed the changed values of the field; null if there are none
 */
record ShardPatch(@Nullable RankedBitmap deleted, @Nullable ChangedField changed) {

  /** Returns what a patch says of a field; null if nothing. */
  static @Nullable ShardPatch of(@Nullable PatchFile file, FieldSpec spec) {
    if (file == null) {
      return null;
    }
    ShardPatch patch = new ShardPatch(file.deleted(), file.changed(spec));
    return patch.deleted == null && patch.changed == null ? null : patch;
  }

  /** Returns the slot of a record, given by its index in the shard. */
  long slotOf(long index) {
    return deleted == null ? index : deleted.missing(index);
  }

  /** Returns the index in the shard of the record in a slot. */
  long indexOf(long slot) {
    return deleted == null ? slot : slot - deleted.rank(slot);
  }

  /** Returns the first slot of a record that is not less than a slot. */
  long nextLive(long slot) {
    long next = slot;
    while (deleted != null && deleted.contains(next)) {
      next++;
    }
    return next;
  }

  /** Returns the first deleted slot that is not less than a slot; 2⁶³−1 if there is none. */
  long endOfLive(long slot) {
    long next = deleted == null ? -1 : deleted.next(slot);
    return next < 0 ? Long.MAX_VALUE : next;
  }

  /** Tells whether changed values are stored as they are read. */
  boolean isAsRead(FieldSpec spec) {
    return changed == null || (changed.values().codec() == Codec.RAW && changed.isOf(spec));
  }

  /** Tells whether the value of a slot was changed. */
  boolean isChanged(long slot) {
    return changed != null && changed.slots().contains(slot);
  }
}
