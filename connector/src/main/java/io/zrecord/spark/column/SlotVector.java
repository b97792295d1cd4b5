package io.zrecord.spark.column;

import io.zrecord.RecordSlots;
import org.apache.spark.sql.types.DataTypes;
import org.jspecify.annotations.Nullable;

/** The column {@code _slot}. Looks a slot up when it is asked for. */
public final class SlotVector extends EmptyVector {
  private final IndexVector records = new IndexVector();
  private @Nullable RecordSlots slots;

  public SlotVector() {
    super(DataTypes.LongType);
  }

  /** Looks slots up there from now on. */
  public void open(RecordSlots newSlots) {
    slots = newSlots;
  }

  /** Returns the indices of the records in the dataset whose slots are looked up. */
  public IndexVector records() {
    return records;
  }

  @Override
  public long getLong(int row) {
    if (slots == null) {
      throw new IllegalStateException("There is no slot before open()");
    }
    return slots.slotOf(records.getLong(row));
  }
}
