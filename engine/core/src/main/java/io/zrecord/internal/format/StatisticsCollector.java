package io.zrecord.internal.format;

import io.zrecord.schema.FieldSpec;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects the statistics of a field, value by value (FORMAT.md section 5.5). Belongs to one
 * thread.
 */
public final class StatisticsCollector {
  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ValueOrder order;
  private final int widthBytes;
  private final int shift;
  private final long flip;
  private final long fold;

  /** Greatest sort key of a number; that of the least has all other bits. */
  private final long infinity;

  private final List<StatisticsRecord> records = new ArrayList<>();
  private boolean isAnyKnown;

  // Of numbers: sort keys, ordered by the usual comparison. Of texts: keys with the first bit
  // turned, and their other halves.
  private long least;
  private long leastLow;
  private long most;
  private long mostLow;
  private long absentCount;
  private long nanCount;
  private boolean isKnown;

  private StatisticsCollector(ValueOrder order, int widthBytes) {
    this.order = order;
    this.widthBytes = widthBytes;
    boolean isFloating = order == ValueOrder.FLOATING;
    this.shift =
        isFloating || order == ValueOrder.UNSIGNED ? Long.SIZE - Byte.SIZE * widthBytes : 0;
    this.flip = order == ValueOrder.UNSIGNED ? Long.MIN_VALUE : 0;
    this.fold = isFloating ? Long.MAX_VALUE : 0;
    this.infinity = isFloating ? infinity(widthBytes) << shift : Long.MAX_VALUE;
    beginBlock();
  }

  private static long infinity(int widthBytes) {
    return widthBytes == Float.BYTES
        ? Float.floatToRawIntBits(Float.POSITIVE_INFINITY)
        : Double.doubleToRawLongBits(Double.POSITIVE_INFINITY);
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
    isKnown = true;
  }

  /**
   * Adds a number.
   *
   * @param bits those of the number, with any bits above its width
   */
  public void add(long bits) {
    long shifted = bits << shift;
    long key = shifted ^ (shifted >> (Long.SIZE - 1) & fold) ^ flip;
    if (key < least) {
      addLeast(key);
    }
    if (key > most) {
      addMost(key);
    }
  }

  // The key of a value that is not a number is beyond all others, and so beyond one of the bounds.

  private void addLeast(long key) {
    if (key < ~infinity) {
      nanCount++;
    } else if (key <= infinity) {
      least = key;
    }
  }

  private void addMost(long key) {
    if (key > infinity) {
      nanCount++;
    } else if (key >= ~infinity) {
      most = key;
    }
  }

  /** Adds a whole value, little-endian. */
  public void add(byte[] source, int offset, int length) {
    if (order == ValueOrder.TEXT) {
      addText(source, offset, length);
      return;
    }
    add(
        switch (widthBytes) {
          case Byte.BYTES -> source[offset];
          case Short.BYTES -> (short) SHORTS.get(source, offset);
          case Integer.BYTES -> (int) INTS.get(source, offset);
          default -> (long) LONGS.get(source, offset);
        });
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

  /** Returns the records of the blocks that have ended. */
  public List<StatisticsRecord> records() {
    return records;
  }

  /** Tells whether these records say anything. */
  public boolean isAnyKnown() {
    return isAnyKnown;
  }

  /** Ends a block, which has a slot at least. */
  public void endBlock() {
    isAnyKnown |= isKnown;
    if (!isKnown) {
      records.add(StatisticsRecord.unknown(absentCount));
    } else if (least > most) {
      records.add(new StatisticsRecord(absentCount, nanCount, true, true, -1, -1, 0, 0));
    } else if (order == ValueOrder.TEXT) {
      records.add(new StatisticsRecord(
          absentCount,
          0,
          true,
          true,
          least ^ Long.MIN_VALUE,
          leastLow,
          most ^ Long.MIN_VALUE,
          mostLow));
    } else {
      records.add(new StatisticsRecord(
          absentCount, nanCount, true, true, key(least, -0.0), 0, key(most, 0.0), 0));
    }
    beginBlock();
  }

  /** Returns the key of a number with a sort key; the two zeros are one number. */
  private long key(long sortKey, double zero) {
    long shifted = sortKey ^ flip ^ (sortKey >> (Long.SIZE - 1) & fold);
    return switch (order) {
      case SIGNED -> ValueOrder.ofSigned(shifted);
      case UNSIGNED -> shifted >>> shift;
      case FLOATING -> {
        double value = widthBytes == Float.BYTES
            ? Float.intBitsToFloat((int) (shifted >>> shift))
            : Double.longBitsToDouble(shifted);
        yield ValueOrder.ofDouble(value == 0 ? zero : value);
      }
      case TEXT -> throw new IllegalStateException("A text is no number");
    };
  }
}
