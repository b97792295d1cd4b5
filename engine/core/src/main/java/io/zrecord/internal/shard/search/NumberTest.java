package io.zrecord.internal.shard.search;

import io.zrecord.internal.format.ValueOrder;
import io.zrecord.read.FieldReader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Tests numbers, dates, timestamps and booleans. Numbers are compared by keys that rise with them:
 * those of {@link ValueOrder} with the first bit turned, so that they have a sign.
 */
final class NumberTest implements ValueTest {
  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ValueOrder order;
  private final int widthBytes;
  private final long[] least;
  private final long[] most;
  private byte[] bytes = new byte[0];
  private long[] keys = new long[0];

  NumberTest(ValueOrder order, int widthBytes, List<KeyRange> ranges) {
    this.order = order;
    this.widthBytes = widthBytes;
    this.least = ranges.stream().mapToLong(range -> signed(range.leastHigh())).toArray();
    this.most = ranges.stream().mapToLong(range -> signed(range.mostHigh())).toArray();
  }

  private static long signed(long key) {
    return key ^ Long.MIN_VALUE;
  }

  @Override
  public void test(FieldReader values, boolean[] matches) {
    int count = values.count();
    if (keys.length < count) {
      keys = new long[matches.length];
      bytes = new byte[matches.length * widthBytes];
    }
    values.copyAll(bytes, 0);
    if (order == ValueOrder.FLOATING) {
      readFractions(count);
    } else {
      readIntegers(count);
    }
    if (least.length == 1) {
      // The distances from the least are compared without a sign.
      long from = least[0];
      long length = most[0] - from;
      for (int i = 0; i < count; i++) {
        matches[i] = Long.compareUnsigned(keys[i] - from, length) <= 0;
      }
    } else {
      for (int i = 0; i < count; i++) {
        matches[i] = isWithin(keys[i]);
      }
    }
  }

  private boolean isWithin(long key) {
    int place = Arrays.binarySearch(least, key);
    return place >= 0 || (place < -1 && key <= most[-place - 2]);
  }

  private void readIntegers(int count) {
    boolean isSigned = order == ValueOrder.SIGNED;
    switch (widthBytes) {
      case Byte.BYTES -> {
        int mask = isSigned ? -1 : 0xff;
        for (int i = 0; i < count; i++) {
          keys[i] = bytes[i] & mask;
        }
      }
      case Short.BYTES -> {
        int mask = isSigned ? -1 : 0xffff;
        for (int i = 0; i < count; i++) {
          keys[i] = (short) SHORTS.get(bytes, i * Short.BYTES) & mask;
        }
      }
      case Integer.BYTES -> {
        long mask = isSigned ? -1 : 0xffffffffL;
        for (int i = 0; i < count; i++) {
          keys[i] = (int) INTS.get(bytes, i * Integer.BYTES) & mask;
        }
      }
      default -> {
        for (int i = 0; i < count; i++) {
          keys[i] = (long) LONGS.get(bytes, i * Long.BYTES);
        }
      }
    }
    if (!isSigned) {
      for (int i = 0; i < count; i++) {
        keys[i] = signed(keys[i]);
      }
    }
  }

  private void readFractions(int count) {
    for (int i = 0; i < count; i++) {
      double value = widthBytes == Float.BYTES
          ? Float.intBitsToFloat((int) INTS.get(bytes, i * Float.BYTES))
          : Double.longBitsToDouble((long) LONGS.get(bytes, i * Double.BYTES));
      keys[i] = Double.isNaN(value) ? Long.MAX_VALUE : signed(ValueOrder.ofDouble(value));
    }
  }
}
