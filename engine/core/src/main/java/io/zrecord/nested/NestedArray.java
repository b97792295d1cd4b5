package io.zrecord.nested;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.NestedType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Views the values of one type within a nested value, as an array of Arrow's columnar layout:
 * {@code i} counts the values of this type in the whole nested value. A list has its elements in
 * {@code child(0)}, from {@link #start} to {@link #end}. A map has its keys in {@code child(0)} and
 * its values in {@code child(1)}, likewise. Member {@code k} of struct {@code i} is value {@code i}
 * of {@code child(k)}. Changes with each {@link NestedView#read}. Belongs to one thread.
 */
public final class NestedArray {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).order(ByteOrder.LITTLE_ENDIAN);

  private final NestedType type;
  private final NestedType.@Nullable Leaf leaf;
  private final boolean isBits;
  private final boolean isKey;
  private final int widthBytes;
  private final NestedArray[] children;
  private ByteBuffer bytes = NOTHING;
  private int count;
  private int validityAt = -1;
  private int offsetsAt = -1;
  private int dataAt;
  private int rootElements;

  NestedArray(NestedType type, boolean isKey) {
    this.type = type;
    this.isKey = isKey;
    this.leaf = type instanceof NestedType.Leaf found ? found : null;
    this.isBits = leaf != null && leaf.element().kind() == ElementType.Kind.BOOL;
    this.widthBytes = leaf == null ? 0 : leaf.widthBytes();
    this.children = new NestedArray[type.children().size()];
    for (int k = 0; k < children.length; k++) {
      children[k] =
          new NestedArray(type.children().get(k), type instanceof NestedType.MapOf && k == 0);
    }
  }

  public NestedType type() {
    return type;
  }

  /** Returns the number of values. */
  public int count() {
    return count;
  }

  public NestedArray child(int k) {
    return children[k];
  }

  /** Tells whether any value may be absent. */
  public boolean hasAbsent() {
    return validityAt >= 0;
  }

  public boolean isAbsent(int i) {
    Objects.checkIndex(i, count);
    return validityAt >= 0 && (bytes.get(validityAt + (i >> 3)) >> (i & 7) & 1) == 0;
  }

  /** Returns where list or map {@code i} begins in its children, or text or bytes in the data. */
  public int start(int i) {
    Objects.checkIndex(i, count);
    return offsetsAt < 0 ? 0 : bytes.getInt(offsetsAt + i * Integer.BYTES);
  }

  /** Returns where list, map, text or bytes {@code i} ends. */
  public int end(int i) {
    Objects.checkIndex(i, count);
    return offsetsAt < 0 ? rootElements : bytes.getInt(offsetsAt + (i + 1) * Integer.BYTES);
  }

  /** Returns a single element of type {@code bool}. */
  public boolean getBoolean(int i) {
    requireWidth(1);
    Objects.checkIndex(i, count);
    return isBits ? bit(i) : bytes.get(dataAt + i) != 0;
  }

  /** Returns a single element of 1 byte. */
  public byte getByte(int i) {
    requireWidth(1);
    Objects.checkIndex(i, count);
    return isBits ? (byte) (bit(i) ? 1 : 0) : bytes.get(dataAt + i);
  }

  /** Returns a single element of 2 bytes. */
  public short getShort(int i) {
    requireWidth(Short.BYTES);
    Objects.checkIndex(i, count);
    return bytes.getShort(dataAt + i * Short.BYTES);
  }

  /** Returns a single element of 4 bytes. */
  public int getInt(int i) {
    requireWidth(Integer.BYTES);
    Objects.checkIndex(i, count);
    return bytes.getInt(dataAt + i * Integer.BYTES);
  }

  /** Returns a single element of 8 bytes. */
  public long getLong(int i) {
    requireWidth(Long.BYTES);
    Objects.checkIndex(i, count);
    return bytes.getLong(dataAt + i * Long.BYTES);
  }

  public float getFloat(int i) {
    return Float.intBitsToFloat(getInt(i));
  }

  public double getDouble(int i) {
    return Double.longBitsToDouble(getLong(i));
  }

  /**
   * Returns a copy of the bytes of a leaf's value, which are those of a field of the leaf's type
   * and shape.
   *
   * @throws IllegalStateException if this is no leaf
   */
  public byte[] bytes(int i) {
    Objects.checkIndex(i, count);
    NestedType.Leaf found = requireLeaf();
    int length = found.isVariable() ? end(i) - start(i) : widthBytes;
    byte[] value = new byte[length];
    copyData(found.isVariable() ? start(i) : (long) i * widthBytes, value, 0, length);
    return value;
  }

  /**
   * Returns a value as Java objects; null if absent. A list or a tensor is a
   * {@link java.util.List}, a map a list of {@link java.util.Map.Entry}, a struct a
   * {@link java.util.Map} by name. Integers are {@link Integer}, {@link Long} or
   * {@link java.math.BigInteger}, the narrowest that holds all values of the type, but at least
   * Integer. Small floats, dates and times are their bits.
   */
  public @Nullable Object value(int i) {
    return NestedObjects.of(this, i);
  }

  /** Returns the bytes of all values of a leaf: a {@code bool} has 1 byte, as in tensors. */
  long dataBytes() {
    return requireLeaf().isVariable()
        ? (count == 0 ? 0 : end(count - 1))
        : (long) count * widthBytes;
  }

  /** Copies a part of the bytes of all values of a leaf. */
  void copyData(long from, byte[] target, int offset, int length) {
    if (isBits) {
      for (int k = 0; k < length; k++) {
        target[offset + k] = (byte) (bit(from + k) ? 1 : 0);
      }
    } else {
      bytes.get(dataAt + (int) from, target, offset, length);
    }
  }

  private boolean bit(long position) {
    return (bytes.get(dataAt + (int) (position >> 3)) >> (int) (position & 7) & 1) != 0;
  }

  private NestedType.Leaf requireLeaf() {
    if (leaf == null) {
      throw new IllegalStateException("A value of type " + type + " has no bytes of its own");
    }
    return leaf;
  }

  private void requireWidth(int width) {
    if (widthBytes != width) {
      throw new IllegalStateException("A value of type " + type + " has not " + width + " bytes");
    }
  }

  /** Takes over the buffers of the value that is being read, as the root of the tree. */
  void readRoot(NestedBuffers buffers, int elements) {
    bytes = buffers.bytes();
    count = 1;
    rootElements = elements;
    if (type instanceof NestedType.StructOf) {
      if (elements != 1) {
        throw buffers.corrupt("it has " + elements + " elements, but is one struct");
      }
    } else if (type instanceof NestedType.MapOf) {
      buffers.requireEmpty("presence of entries");
    }
    readChildren(buffers, elements);
  }

  /** Takes over the buffers of the value that is being read, depth first. */
  private void read(NestedBuffers buffers, int newCount) {
    bytes = buffers.bytes();
    count = newCount;
    if (isKey) {
      buffers.requireEmpty("presence of keys");
    } else {
      validityAt = buffers.bits("presence", newCount, true);
    }
    if (type instanceof NestedType.StructOf) {
      readChildren(buffers, newCount);
    } else if (leaf == null) {
      offsetsAt = buffers.offsets(newCount);
      int elements = bytes.getInt(offsetsAt + newCount * Integer.BYTES);
      if (type instanceof NestedType.MapOf) {
        buffers.requireEmpty("presence of entries");
      }
      readChildren(buffers, elements);
    } else if (leaf.isVariable()) {
      offsetsAt = buffers.offsets(newCount);
      dataAt = buffers.exactly("data", bytes.getInt(offsetsAt + newCount * Integer.BYTES));
    } else {
      if (!leaf.shape().isScalar()) {
        buffers.requireEmpty("presence of elements");
      }
      dataAt = isBits
          ? buffers.bits("data", (long) newCount * leaf.elementCount(), false)
          : buffers.exactly("data", (long) newCount * widthBytes);
    }
  }

  private void readChildren(NestedBuffers buffers, int elements) {
    for (NestedArray child : children) {
      child.read(buffers, elements);
    }
  }

  /** Forgets the value. */
  void clear() {
    bytes = NOTHING;
    count = 0;
    validityAt = -1;
    for (NestedArray child : children) {
      child.clear();
    }
  }

  static int bufferCount(NestedType type) {
    if (type instanceof NestedType.Leaf leaf) {
      return leaf.isVariable() || !leaf.shape().isScalar() ? 3 : 2;
    }
    int own = type instanceof NestedType.StructOf ? 1 : type instanceof NestedType.MapOf ? 3 : 2;
    for (NestedType child : type.children()) {
      own += bufferCount(child);
    }
    return own;
  }

  /** Returns the number of buffers of a value. The root has no presence and no offsets. */
  static int rootBufferCount(NestedType type) {
    return bufferCount(type) - (type instanceof NestedType.StructOf ? 1 : 2);
  }
}
