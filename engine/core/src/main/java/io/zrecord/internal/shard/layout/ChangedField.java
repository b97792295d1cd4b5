package io.zrecord.internal.shard.layout;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.SlotFilter;
import io.zrecord.schema.Codec;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The changed values of a field in a shard. Thread-safe. */
public final class ChangedField {
  /**
   * Widest values that are held side by side: they take no more memory than their entries, which
   * are there already.
   */
  private static final int MOST_BYTES_SIDE_BY_SIDE = 16;

  /** Values are put side by side when one in so many was wanted. */
  private static final int WANTED_SHARE = 16;

  private final RankedBitmap slots;
  private final EntryField values;
  private final ElementType type;
  private final boolean hasAbsent;
  private final SlotFilter filter;
  private final AtomicLong wanted = new AtomicLong();
  private volatile @Nullable SideBySide sideBySide;
  private volatile boolean isDamaged;

  /**
   * Changed values next to each other, by the rank of their slots.
   *
   * @param bytes zeros for absent values; read-only, direct and little-endian, from position 0 on
   * @param isVerified whether each value was verified
   */
  public record SideBySide(ByteBuffer bytes, boolean isVerified) {}

  private ChangedField(RankedBitmap slots, EntryField values, ElementType type, boolean hasAbsent) {
    this.slots = slots;
    this.values = values;
    this.type = type;
    this.hasAbsent = hasAbsent;
    this.filter = SlotFilter.of(slots);
  }

  static ChangedField of(RankedBitmap slots, EntryField values, ElementType type) {
    boolean hasAbsent = false;
    for (long rank = 0; rank < slots.count() && !hasAbsent; rank++) {
      hasAbsent = Entry.isAbsent(values.word0(rank), values.word1(rank));
    }
    return new ChangedField(slots, values, type, hasAbsent);
  }

  /** Returns the slots whose values were changed. */
  public RankedBitmap slots() {
    return slots;
  }

  /** Returns a filter of these slots. */
  public SlotFilter filter() {
    return filter;
  }

  /** Returns their values, by the rank of the slot. */
  public EntryField values() {
    return values;
  }

  /** Returns the type of an element, from which readers convert. */
  public ElementType type() {
    return type;
  }

  /** Tells whether some of the values are absent. */
  public boolean hasAbsent() {
    return hasAbsent;
  }

  /** Tells whether the value of a rank is absent. */
  public boolean isAbsent(long rank) {
    return hasAbsent && Entry.isAbsent(values.word0(rank), values.word1(rank));
  }

  /** Tells whether the stored bytes are those of values of a field, without a conversion. */
  public boolean isOf(FieldSpec spec) {
    return type.widthBytes().equals(spec.type().widthBytes());
  }

  /** Returns the values side by side; null if nobody has put them so. */
  public @Nullable SideBySide sideBySide() {
    return sideBySide;
  }

  /**
   * Notes that some values are wanted. Tells whether to put all side by side, because they are
   * small, so many were wanted, and none was found damaged.
   */
  public boolean isWorthSideBySide(FieldSpec spec, int count) {
    int width = spec.valueWidthBytes().orElse(0);
    return width > 0
        && width <= MOST_BYTES_SIDE_BY_SIDE
        && values.codec() == Codec.RAW
        && !isDamaged
        && wanted.addAndGet(count) >= slots.count() / WANTED_SHARE
        && slots.count() <= Integer.MAX_VALUE / width;
  }

  /** Gives the values side by side to all readers. */
  public void setSideBySide(SideBySide newValues) {
    sideBySide = newValues;
  }

  /** Notes that one of the values is damaged: each is read on its own from now on. */
  public void setDamaged() {
    isDamaged = true;
  }
}
