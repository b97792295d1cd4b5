package io.zrecord.nested;

import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.NestedType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Collects values of one type, and those within them, in arrays that grow: to write the bytes of a
 * nested value, or to hold the values of a batch.
 *
 * <p>A leaf takes values by the {@code put} methods. A list or map takes its elements first,
 * through {@link #child}, and then {@link #endValue}. A struct takes one value in each child and
 * then {@link #endValue}. Each type takes {@link #putAbsent}. Nothing is allocated for a value once
 * the arrays have grown. After an exception the column must be cleared. Belongs to one thread.
 */
public final class NestedColumn {
  private static final int FIRST = 16;

  private final NestedType type;
  private final NestedType.@Nullable Leaf leaf;
  private final boolean isVariable;
  private final boolean hasOffsets;
  private final boolean isKey;
  private final int widthBytes;
  private final NestedColumn[] children;
  private int count;
  private int absentCount;
  /** Without meaning as long as no value is absent. */
  private boolean[] absent = new boolean[0];

  private int[] ends = new int[0];
  private byte[] data = new byte[0];
  private ByteBuffer dataBuffer = littleEndian(data);
  private int dataBytes;

  public NestedColumn(NestedType type) {
    this(type, false);
  }

  private NestedColumn(NestedType type, boolean isKey) {
    this.type = type;
    this.isKey = isKey;
    this.leaf = type instanceof NestedType.Leaf found ? found : null;
    this.isVariable = leaf != null && leaf.isVariable();
    this.hasOffsets = isVariable || (leaf == null && !(type instanceof NestedType.StructOf));
    this.widthBytes = leaf == null ? 0 : leaf.widthBytes();
    this.children = new NestedColumn[type.children().size()];
    for (int k = 0; k < children.length; k++) {
      children[k] =
          new NestedColumn(type.children().get(k), type instanceof NestedType.MapOf && k == 0);
    }
  }

  public NestedType type() {
    return type;
  }

  /** Forgets all values, also those of the children. */
  public void clear() {
    count = 0;
    absentCount = 0;
    dataBytes = 0;
    for (NestedColumn child : children) {
      child.clear();
    }
  }

  /** Returns the number of values. */
  public int count() {
    return count;
  }

  /** Returns the number of absent values. */
  public int absentCount() {
    return absentCount;
  }

  /** Returns the element of a list; the key (0) or value (1) of a map; a member of a struct. */
  public NestedColumn child(int k) {
    return children[k];
  }

  public boolean isAbsent(int i) {
    Objects.checkIndex(i, count);
    return absentCount > 0 && absent[i];
  }

  /** Returns where list or map {@code i} begins in its children, or text or bytes in the data. */
  public int start(int i) {
    Objects.checkIndex(i, count);
    return i == 0 ? 0 : ends[i - 1];
  }

  /** Returns where list, map, text or bytes {@code i} ends. */
  public int end(int i) {
    Objects.checkIndex(i, count);
    return ends[i];
  }

  /**
   * Returns the bytes of all values of a leaf, one after the other, as those of a field of its type
   * and shape; of an absent value of fixed width, zeros. The array is longer than the bytes, and
   * another one once the column has grown.
   */
  public byte[] data() {
    return data;
  }

  /** Returns the number of bytes in {@link #data}. */
  public int dataBytes() {
    return dataBytes;
  }

  /** Puts an absent value. In a struct, the members are absent as well. */
  public void putAbsent() {
    if (isKey) {
      throw new IllegalArgumentException("A key of a map cannot be absent");
    }
    if (type instanceof NestedType.StructOf) {
      for (NestedColumn child : children) {
        child.putAbsent();
      }
    } else if (widthBytes > 0) {
      int at = reserve(widthBytes);
      Arrays.fill(data, at, at + widthBytes, (byte) 0);
    }
    end(true);
  }

  /** Puts a single element of type {@code bool}. */
  public void putBoolean(boolean value) {
    putByte((byte) (value ? 1 : 0));
  }

  /** Puts a single element of 1 byte. */
  public void putByte(byte value) {
    requireWidth(1);
    int at = reserve(1);
    data[at] = value;
    end(false);
  }

  /** Puts a single element of 2 bytes. */
  public void putShort(short value) {
    requireWidth(Short.BYTES);
    int at = reserve(Short.BYTES);
    dataBuffer.putShort(at, value);
    end(false);
  }

  /** Puts a single element of 4 bytes. */
  public void putInt(int value) {
    requireWidth(Integer.BYTES);
    int at = reserve(Integer.BYTES);
    dataBuffer.putInt(at, value);
    end(false);
  }

  /** Puts a single element of 8 bytes. */
  public void putLong(long value) {
    requireWidth(Long.BYTES);
    int at = reserve(Long.BYTES);
    dataBuffer.putLong(at, value);
    end(false);
  }

  /** Puts the bits as they are, NaN payloads included. */
  public void putFloat(float value) {
    putInt(Float.floatToRawIntBits(value));
  }

  /** Puts the bits as they are, NaN payloads included. */
  public void putDouble(double value) {
    putLong(Double.doubleToRawLongBits(value));
  }

  /**
   * Puts the bytes of a leaf's value, which are those of a field of its type and shape.
   *
   * @throws IllegalArgumentException if the leaf has no values of this length
   */
  public void put(byte[] source, int offset, int length) {
    if (leaf == null || (!isVariable && length != widthBytes)) {
      throw new IllegalArgumentException(
          "Cannot put " + length + " bytes as a value of type " + type);
    }
    int at = reserve(length);
    System.arraycopy(source, offset, data, at, length);
    end(false);
  }

  /**
   * Ends a list, a map or a struct.
   *
   * @throws IllegalStateException if a map has more keys than values or less, or a struct has not
   *     one more value of each member
   */
  public void endValue() {
    if (leaf != null) {
      throw new IllegalStateException("A value of type " + type + " has no end of its own");
    }
    int expected = hasOffsets ? children[0].count : count + 1;
    for (NestedColumn child : children) {
      if (child.count != expected) {
        throw new IllegalStateException("A value of type " + type + " cannot end: it has "
            + child.count + " values of type " + child.type + " instead of " + expected);
      }
    }
    end(false);
  }

  /** Adds all values of an array, which has the type of this column. */
  public void appendAll(NestedArray source) {
    int first = count;
    int added = source.count();
    int total = addExact(first, added);
    if (absentCount > 0 || source.hasAbsent()) {
      for (int i = 0; i < added; i++) {
        mark(first + i, source.isAbsent(i));
      }
    }
    if (leaf != null) {
      long length = source.dataBytes();
      if (length > Integer.MAX_VALUE) {
        throw tooLarge();
      }
      int at = reserve((int) length);
      source.copyData(0, data, at, (int) length);
    }
    if (hasOffsets) {
      reserveEnds(total);
      int base = first == 0 ? 0 : ends[first - 1];
      for (int i = 0; i < added; i++) {
        ends[first + i] = addExact(base, source.end(i));
      }
    }
    for (int k = 0; k < children.length; k++) {
      children[k].appendAll(source.child(k));
    }
    count = total;
  }

  private void end(boolean isAbsent) {
    int needed = addExact(count, 1);
    if (isAbsent || absentCount > 0) {
      mark(count, isAbsent);
    }
    if (hasOffsets) {
      reserveEnds(needed);
      ends[count] = isVariable ? dataBytes : children[0].count;
    }
    count = needed;
  }

  /** Notes whether a value is absent. All before the first absent value are present. */
  private void mark(int i, boolean isAbsent) {
    if (absentCount == 0) {
      if (!isAbsent) {
        return;
      }
      Arrays.fill(absent, 0, Math.min(i, absent.length), false);
    }
    if (absent.length <= i) {
      absent = Arrays.copyOf(absent, grown(absent.length, addExact(i, 1)));
    }
    absent[i] = isAbsent;
    absentCount += isAbsent ? 1 : 0;
  }

  private void reserveEnds(int needed) {
    if (ends.length < needed) {
      ends = Arrays.copyOf(ends, grown(ends.length, needed));
    }
  }

  private int reserve(int more) {
    int at = dataBytes;
    int needed = addExact(at, more);
    if (data.length < needed) {
      data = Arrays.copyOf(data, grown(data.length, needed));
      dataBuffer = littleEndian(data);
    }
    dataBytes = needed;
    return at;
  }

  private int addExact(int a, int b) {
    int sum = a + b;
    if (sum < 0) {
      throw tooLarge();
    }
    return sum;
  }

  private static int grown(int length, int needed) {
    long doubled = Math.max(FIRST, 2L * length);
    return (int) Math.max(needed, Math.min(doubled, Integer.MAX_VALUE - 8));
  }

  private void requireWidth(int width) {
    if (widthBytes != width || (leaf != null && !leaf.shape().isScalar())) {
      throw new IllegalArgumentException(
          "Cannot put a single element of " + width + " bytes as a value of type " + type);
    }
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private ValueTooLargeException tooLarge() {
    return new ValueTooLargeException(
        type.toString(),
        "Cannot hold values of type " + type + " of more than " + Integer.MAX_VALUE
            + " bytes; write smaller values, or read fewer at once");
  }

  /**
   * Returns the bytes of the only value of the column, as a field takes them.
   *
   * @param reused returned if it has exactly the length
   * @throws IllegalStateException if the column has not exactly one value, or the value is absent
   * @throws ValueTooLargeException if the value has more than 2³¹−1 bytes
   */
  public byte[] toBytes(byte[] reused) {
    int length = lengthBytes();
    byte[] bytes = reused.length == length ? reused : new byte[length];
    writeTo(bytes);
    return bytes;
  }

  /**
   * Returns the number of bytes of the only value of the column.
   *
   * @throws IllegalStateException if the column has not exactly one value, or the value is absent
   * @throws ValueTooLargeException if the value has more than 2³¹−1 bytes
   */
  public int lengthBytes() {
    if (leaf != null || count != 1 || absentCount != 0) {
      throw new IllegalStateException("A column of " + count + " values of type " + type + ", "
          + absentCount + " of them absent, is not one nested value");
    }
    long length = NestedBuffers.headerBytes(NestedArray.rootBufferCount(type));
    for (NestedColumn child : children) {
      length += child.paddedBytes();
    }
    if (length > Integer.MAX_VALUE) {
      throw tooLarge();
    }
    return (int) length;
  }

  /**
   * Writes the bytes of the only value of the column to the beginning of an array that is at least
   * {@link #lengthBytes} long.
   */
  public void writeTo(byte[] target) {
    int length = lengthBytes();
    int bufferCount = NestedArray.rootBufferCount(type);
    NestedOutput out = new NestedOutput(target, length, bufferCount);
    out.header(type instanceof NestedType.StructOf ? 1 : children[0].count);
    if (type instanceof NestedType.MapOf) {
      out.empty();
    }
    for (NestedColumn child : children) {
      child.write(out);
    }
  }

  private long paddedBytes() {
    long length = absentCount == 0 ? 0 : NestedBuffers.padded((count + 7L) / 8);
    length += hasOffsets ? NestedBuffers.padded((count + 1L) * Integer.BYTES) : 0;
    length += NestedBuffers.padded(isBits() ? (dataBytes + 7L) / 8 : dataBytes);
    for (NestedColumn child : children) {
      length += child.paddedBytes();
    }
    return length;
  }

  private boolean isBits() {
    return leaf != null && leaf.element().kind() == ElementType.Kind.BOOL;
  }

  private void write(NestedOutput out) {
    if (absentCount == 0) {
      out.empty();
    } else {
      out.presence(absent, count);
    }
    if (hasOffsets) {
      out.offsets(ends, count);
    }
    if (type instanceof NestedType.MapOf || (leaf != null && !leaf.shape().isScalar())) {
      out.empty();
    }
    if (isBits()) {
      out.bits(data, dataBytes);
    } else if (leaf != null) {
      out.bytes(data, dataBytes);
    }
    for (NestedColumn child : children) {
      child.write(out);
    }
  }
}
