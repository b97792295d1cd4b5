package io.zrecord.spark.column;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Reads elements of an array of little-endian bytes by their ordinal, as fast as from an array of
 * their type.
 */
final class LittleEndian {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private LittleEndian() {}

  static short shortAt(byte[] data, int i) {
    return (short) SHORT.get(data, i << 1);
  }

  static int intAt(byte[] data, int i) {
    return (int) INT.get(data, i << 2);
  }

  static long longAt(byte[] data, int i) {
    return (long) LONG.get(data, i << 3);
  }
}
