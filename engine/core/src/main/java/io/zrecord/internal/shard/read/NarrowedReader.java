package io.zrecord.internal.shard.read;

import io.zrecord.internal.values.NarrowedValues;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Function;

/**
 * Reads a field as one of a narrower type, from a reader of the wider one. Methods that return
 * values throw what says that a value does not fit. Belongs to one thread.
 */
public final class NarrowedReader implements FieldReader {
  private final FieldSpec field;
  private final FieldReader values;
  private final Function<String, ? extends RuntimeException> refusal;
  private final int fromBytes;
  private final int toBytes;

  /**
   * Reads a field.
   *
   * @param field the field with the narrower type
   * @param values reads the field with the wider type
   * @param refusal makes what is thrown if a value does not fit, of the value as text
   */
  public NarrowedReader(
      FieldSpec field, FieldReader values, Function<String, ? extends RuntimeException> refusal) {
    this.field = field;
    this.values = values;
    this.refusal = refusal;
    this.fromBytes = values.field().type().widthBytes().orElse(1);
    this.toBytes = field.type().widthBytes().orElse(1);
  }

  @Override
  public FieldSpec field() {
    return field;
  }

  @Override
  public int selectRange(long firstIndex, int maxCount, long maxBytes) {
    return values.selectRange(firstIndex, maxCount, maxBytes);
  }

  @Override
  public void select(long[] indices, int from, int count) {
    values.select(indices, from, count);
  }

  @Override
  public int count() {
    return values.count();
  }

  @Override
  public boolean hasAbsent() {
    return values.hasAbsent();
  }

  @Override
  public boolean isAbsent(int i) {
    return values.isAbsent(i);
  }

  @Override
  public int lengthBytes(int i) {
    return values.lengthBytes(i) / fromBytes * toBytes;
  }

  @Override
  public long totalLengthBytes() {
    return values.totalLengthBytes() / fromBytes * toBytes;
  }

  @Override
  public byte[] value(int i) {
    return narrowed(values.value(i));
  }

  @Override
  public int copyValue(int i, byte[] destination, int offset) {
    byte[] value = value(i);
    System.arraycopy(value, 0, destination, offset, value.length);
    return value.length;
  }

  @Override
  public void copyAll(byte[] destination, int offset) {
    if (field.type().widthBytes().isEmpty()) {
      int at = offset;
      for (int i = 0; i < count(); i++) {
        at += copyValue(i, destination, at);
      }
      return;
    }
    byte[] all = new byte[Math.toIntExact(values.totalLengthBytes())];
    values.copyAll(all, 0);
    byte[] narrowed = narrowed(all);
    System.arraycopy(narrowed, 0, destination, offset, narrowed.length);
  }

  @Override
  public void copyAll(ByteBuffer destination) {
    byte[] all = new byte[Math.toIntExact(totalLengthBytes())];
    copyAll(all, 0);
    destination.put(all);
  }

  @Override
  public ByteBuffer view(int i) {
    return ByteBuffer.wrap(value(i)).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  private byte[] narrowed(byte[] value) {
    try {
      return NarrowedValues.convert(value, values.field().type(), field.type());
    } catch (ArithmeticException e) {
      throw refusal.apply(String.valueOf(e.getMessage()));
    }
  }
}
