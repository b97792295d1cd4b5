package io.zrecord.internal.format;

import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects the statistics of a field, value by value (FORMAT.md section 5). Belongs to one thread.
 */
public final class StatisticsCollector {
  private static final long NEGATIVE_ZERO = ValueOrder.ofDouble(-0.0) ^ Long.MIN_VALUE;
  private static final long ZERO = ValueOrder.ofDouble(0.0) ^ Long.MIN_VALUE;

  private final ValueOrder order;
  private final int widthBytes;
  private final boolean isFloating;
  private final long mask;
  private final long flip;
  private final List<StatisticsRecord> records = new ArrayList<>();
  private boolean isAnyKnown;

  // Keys with the first bit turned, so that the usual comparison orders them.
  private long least;
  private long leastLow;
  private long most;
  private long mostLow;
  private long absentCount;
  private long nanCount;
  private long slotCount;
  private boolean isKnown;

  private StatisticsCollector(ValueOrder order, int widthBytes) {
    this.order = order;
    this.widthBytes = widthBytes;
    this.isFloating = order == ValueOrder.FLOATING;
    boolean isCut = order == ValueOrder.UNSIGNED && widthBytes < Long.BYTES;
    this.mask = isCut ? (1L << (Byte.SIZE * widthBytes)) - 1 : -1;
    this.flip = order == ValueOrder.UNSIGNED ? Long.MIN_VALUE : 0;
    beginBlock();
  }

  /** Makes a collector; null if no statistics of the field are kept. */
  public static @Nullable StatisticsCollector of(FieldSpec field) {
    ValueOrder order = ValueOrder.of(field.type(), field.shape());
    return order == null
        ? null
        : new StatisticsCollector(order, field.valueWidthBytes().orElse(-1));
  }

  private void beginBlock() {
    least = Long.MAX_VALUE;
    leastLow = -1;
    most = Long.MIN_VALUE;
    mostLow = 0;
    absentCount = 0;
    nanCount = 0;
    slotCount = 0;
    isKnown = true;
  }

  /**
   * Adds a number.
   *
   * @param bits those of the number, with any bits above its width
   */
  public void add(long bits) {
    long key = (bits & mask) ^ flip;
    if (isFloating) {
      double value = widthBytes == Float.BYTES
          ? Float.intBitsToFloat((int) bits)
          : Double.longBitsToDouble(bits);
      if (Double.isNaN(value)) {
        nanCount++;
        return;
      }
      key = ValueOrder.ofDouble(value) ^ Long.MIN_VALUE;
    }
    if (key < least) {
      least = key;
    }
    if (key > most) {
      most = key;
    }
  }

  /** Adds a whole value, little-endian. */
  public void add(byte[] source, int offset, int length) {
    if (order == ValueOrder.TEXT) {
      addText(source, offset, length);
      return;
    }
    long bits = 0;
    for (int i = widthBytes - 1; i > 0; i--) {
      bits = bits << Byte.SIZE | (source[offset + i] & 0xff);
    }
    // The sign is that of the last byte.
    long sign = (long) source[offset + widthBytes - 1] >> Byte.SIZE;
    int width = Byte.SIZE * widthBytes;
    bits = bits << Byte.SIZE | (source[offset] & 0xff);
    add(width == Long.SIZE ? bits : sign << width | bits);
  }

  private void addText(byte[] source, int offset, int length) {
    long key = ValueOrder.highOf(source, offset, length) ^ Long.MIN_VALUE;
    if (key <= least || key >= most) {
      long low = ValueOrder.lowOf(source, offset, length);
      if (key < least || (key == least && Long.compareUnsigned(low, leastLow) < 0)) {
        least = key;
        leastLow = low;
      }
      if (key > most || (key == most && Long.compareUnsigned(low, mostLow) > 0)) {
        most = key;
        mostLow = low;
      }
    }
  }

  /** Takes note of a value that cannot be looked at. */
  public void addUnknown() {
    isKnown = false;
  }

  public void addAbsent() {
    absentCount++;
  }

  /** Ends a slot, whose value was added. */
  public void endSlot() {
    if (++slotCount == StatisticsRecord.SLOTS) {
      endBlock();
    }
  }

  /** Returns the records of all blocks. No slot may follow. */
  public List<StatisticsRecord> finish() {
    if (slotCount > 0) {
      endBlock();
    }
    return records;
  }

  /** Tells whether the records, which are finished, say anything. */
  public boolean isAnyKnown() {
    return isAnyKnown;
  }

  private void endBlock() {
    if (isFloating && least == ZERO) {
      least = NEGATIVE_ZERO;
    }
    if (isFloating && most == NEGATIVE_ZERO) {
      most = ZERO;
    }
    isAnyKnown |= isKnown;
    if (isKnown) {
      boolean isEmpty = least > most;
      records.add(new StatisticsRecord(
          absentCount,
          nanCount,
          true,
          least ^ Long.MIN_VALUE,
          order == ValueOrder.TEXT || isEmpty ? leastLow : 0,
          most ^ Long.MIN_VALUE,
          mostLow));
    } else {
      records.add(new StatisticsRecord(absentCount, 0, false, 0, 0, 0, 0));
    }
    beginBlock();
  }
}
