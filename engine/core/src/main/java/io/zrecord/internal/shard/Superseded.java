package io.zrecord.internal.shard;

import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.FieldSpec;
import org.jspecify.annotations.Nullable;

/**
 * The slots whose values in the tables of a field nobody reads any more: those of deleted records,
 * and those with a changed value. Immutable.
 */
public final class Superseded {
  private final @Nullable RankedBitmap deleted;
  private final @Nullable RankedBitmap changed;

  private Superseded(@Nullable RankedBitmap deleted, @Nullable RankedBitmap changed) {
    this.deleted = deleted;
    this.changed = changed;
  }

  /** Returns the superseded slots of a field. */
  public static Superseded of(OpenShard shard, FieldSpec field) {
    PatchFile patch = shard.patch();
    if (patch == null) {
      return new Superseded(null, null);
    }
    ChangedField changed = patch.changed(field);
    return new Superseded(patch.deleted(), changed == null ? null : changed.slots());
  }

  /** Tells whether a slot is superseded. */
  public boolean contains(long slot) {
    return (deleted != null && deleted.contains(slot))
        || (changed != null && changed.contains(slot));
  }

  /** Returns the first superseded slot within {@code [from, to)}; {@code to} if there is none. */
  public long next(long from, long to) {
    return Math.min(next(deleted, from, to), next(changed, from, to));
  }

  private static long next(@Nullable RankedBitmap slots, long from, long to) {
    long next = slots == null ? -1 : slots.next(from);
    return next < 0 ? to : Math.min(next, to);
  }
}
