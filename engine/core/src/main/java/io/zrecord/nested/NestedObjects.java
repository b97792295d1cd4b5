package io.zrecord.nested;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.NestedType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes Java objects of nested values. Stateless. */
final class NestedObjects {
  private NestedObjects() {}

  static @Nullable Object of(NestedArray array, int i) {
    if (array.isAbsent(i)) {
      return null;
    }
    NestedType type = array.type();
    if (type instanceof NestedType.Leaf leaf) {
      return ofLeaf(leaf, array.bytes(i));
    }
    if (type instanceof NestedType.StructOf struct) {
      Map<String, @Nullable Object> members = new LinkedHashMap<>();
      for (int k = 0; k < struct.members().size(); k++) {
        members.put(struct.members().get(k).name(), of(array.child(k), i));
      }
      return members;
    }
    List<@Nullable Object> elements = new ArrayList<>(array.end(i) - array.start(i));
    for (int k = array.start(i); k < array.end(i); k++) {
      elements.add(
          type instanceof NestedType.MapOf
              ? new java.util.AbstractMap.SimpleImmutableEntry<@Nullable Object, @Nullable Object>(
                  of(array.child(0), k), of(array.child(1), k))
              : of(array.child(0), k));
    }
    return elements;
  }

  private static Object ofLeaf(NestedType.Leaf leaf, byte[] value) {
    ElementType element = leaf.element();
    if (leaf.isVariable()) {
      return element.kind() == ElementType.Kind.UTF8
          ? new String(value, StandardCharsets.UTF_8)
          : value;
    }
    ByteBuffer bytes = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    if (leaf.shape().isScalar()) {
      return next(element, bytes);
    }
    List<Object> elements = new ArrayList<>(leaf.elementCount());
    while (bytes.hasRemaining()) {
      elements.add(next(element, bytes));
    }
    return elements;
  }

  private static Object next(ElementType element, ByteBuffer bytes) {
    return switch (element.kind()) {
      case BOOL -> bytes.get() != 0;
      case I8 -> (int) bytes.get();
      case U8 -> bytes.get() & 0xff;
      case I16, F16, BF16 -> (int) bytes.getShort();
      case U16 -> bytes.getShort() & 0xffff;
      case I32, DATE -> bytes.getInt();
      case U32 -> bytes.getInt() & 0xffff_ffffL;
      case I64, TIMESTAMP, TIMESTAMP_NTZ -> bytes.getLong();
      case U64 -> new BigInteger(Long.toUnsignedString(bytes.getLong()));
      case F32 -> bytes.getFloat();
      case F64 -> bytes.getDouble();
      case DECIMAL -> decimal(element, bytes);
      case BYTES, UTF8, NESTED -> throw new IllegalStateException("No width: " + element);
    };
  }

  private static BigDecimal decimal(ElementType element, ByteBuffer bytes) {
    byte[] bigEndian = new byte[element.widthBytes().orElseThrow()];
    for (int b = bigEndian.length - 1; b >= 0; b--) {
      bigEndian[b] = bytes.get();
    }
    return new BigDecimal(new BigInteger(bigEndian), element.scale());
  }
}
