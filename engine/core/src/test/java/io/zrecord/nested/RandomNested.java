package io.zrecord.nested;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.Shape;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Random nested types, and random values of them as Java objects. */
final class RandomNested {
  private final Random random;

  RandomNested(long seed) {
    this.random = new Random(seed);
  }

  /** Returns a list, a map or a struct. */
  NestedType root() {
    return nested(1 + random.nextInt(4), true);
  }

  private NestedType type(int depth, boolean maps) {
    return depth == 0 || random.nextInt(3) == 0 ? leaf() : nested(depth, maps);
  }

  private NestedType nested(int depth, boolean maps) {
    return switch (random.nextInt(maps ? 3 : 2)) {
      case 0 -> NestedType.listOf(type(depth - 1, maps));
      case 1 -> {
        List<NestedType.Member> members = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int k = 0; k < count; k++) {
          members.add(new NestedType.Member("m" + k, type(depth - 1, maps)));
        }
        yield new NestedType.StructOf(members);
      }
      default -> NestedType.mapOf(type(depth - 1, false), type(depth - 1, true));
    };
  }

  private NestedType leaf() {
    ElementType.Kind[] kinds = ElementType.Kind.values();
    ElementType.Kind kind = kinds[random.nextInt(kinds.length)];
    ElementType element = switch (kind) {
      case NESTED -> ElementType.I32;
      case DECIMAL -> ElementType.decimal(new int[] {5, 18, 38}[random.nextInt(3)], 2);
      default -> ElementType.of(kind);
    };
    boolean isTensor = element.widthBytes().isPresent() && random.nextInt(4) == 0;
    return isTensor
        ? NestedType.of(element, Shape.of(1 + random.nextInt(3), 1 + random.nextInt(4)))
        : NestedType.of(element);
  }

  /** Returns a value that {@link NestedArray#value} returns equal, once it was stored. */
  Object value(NestedType type) {
    if (type instanceof NestedType.Leaf leaf) {
      if (leaf.shape().isScalar()) {
        return element(leaf.element());
      }
      List<Object> elements = new ArrayList<>();
      for (int i = 0; i < leaf.elementCount(); i++) {
        elements.add(element(leaf.element()));
      }
      return elements;
    }
    if (type instanceof NestedType.StructOf struct) {
      Map<String, Object> members = new LinkedHashMap<>();
      struct.members().forEach(member -> members.put(member.name(), maybe(member.type())));
      return members;
    }
    List<Object> elements = new ArrayList<>();
    int count = random.nextInt(5) == 0 ? 0 : random.nextInt(12);
    for (int i = 0; i < count; i++) {
      elements.add(
          type instanceof NestedType.MapOf map
              ? new java.util.AbstractMap.SimpleImmutableEntry<>(
                  value(map.key()), maybe(map.value()))
              : maybe(((NestedType.ListOf) type).element()));
    }
    return elements;
  }

  private Object maybe(NestedType type) {
    return random.nextInt(6) == 0 ? null : value(type);
  }

  private Object element(ElementType type) {
    return switch (type.kind()) {
      case BOOL -> random.nextBoolean();
      case I8 -> random.nextInt(256) - 128;
      case U8 -> random.nextInt(256);
      case I16, F16, BF16 -> random.nextInt(65536) - 32768;
      case U16 -> random.nextInt(65536);
      case I32 -> random.nextInt();
      case DATE -> random.nextInt(1 << 20);
      case U32 -> random.nextInt() & 0xffff_ffffL;
      case I64 -> random.nextLong();
      // Readers in other languages have times of four-digit years.
      case TIMESTAMP, TIMESTAMP_NTZ -> random.nextLong() >>> 8;
      case U64 -> new BigInteger(64, random);
      case F32 -> random.nextFloat();
      case F64 -> random.nextGaussian();
      case DECIMAL -> new BigDecimal(new BigInteger(15, random), type.scale());
      case UTF8 -> "é".repeat(random.nextInt(5));
      case BYTES -> {
        byte[] bytes = new byte[random.nextInt(9)];
        random.nextBytes(bytes);
        yield bytes;
      }
      case NESTED -> throw new IllegalStateException();
    };
  }

  /** Returns a value in which everything can be compared by {@code equals}. */
  static Object plain(Object value) {
    if (value instanceof byte[] bytes) {
      return "0x" + java.util.HexFormat.of().formatHex(bytes);
    }
    if (value instanceof Map.Entry<?, ?> entry) {
      return java.util.Arrays.asList("entry", plain(entry.getKey()), plain(entry.getValue()));
    }
    if (value instanceof Map<?, ?> members) {
      Map<Object, Object> plain = new LinkedHashMap<>();
      members.forEach((name, member) -> plain.put(name, plain(member)));
      return plain;
    }
    if (value instanceof List<?> elements) {
      List<Object> plain = new ArrayList<>();
      elements.forEach(element -> plain.add(plain(element)));
      return plain;
    }
    return value;
  }

  /** Puts a value as Java objects into a column. */
  static void put(NestedColumn column, Object value) {
    if (value == null) {
      column.putAbsent();
    } else if (column.type() instanceof NestedType.Leaf leaf) {
      byte[] bytes = bytes(leaf, value);
      column.put(bytes, 0, bytes.length);
    } else if (column.type() instanceof NestedType.StructOf struct) {
      for (int k = 0; k < struct.members().size(); k++) {
        put(column.child(k), ((Map<?, ?>) value).get(struct.members().get(k).name()));
      }
      column.endValue();
    } else {
      for (Object element : (List<?>) value) {
        if (column.type() instanceof NestedType.MapOf) {
          put(column.child(0), ((Map.Entry<?, ?>) element).getKey());
          put(column.child(1), ((Map.Entry<?, ?>) element).getValue());
        } else {
          put(column.child(0), element);
        }
      }
      column.endValue();
    }
  }

  private static byte[] bytes(NestedType.Leaf leaf, Object value) {
    if (value instanceof byte[] bytes) {
      return bytes;
    }
    if (value instanceof String text) {
      return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }
    ByteBuffer bytes = ByteBuffer.allocate(leaf.widthBytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (Object element : value instanceof List<?> tensor ? tensor : List.of(value)) {
      putElement(leaf.element(), bytes, element);
    }
    return bytes.array();
  }

  private static void putElement(ElementType type, ByteBuffer bytes, Object value) {
    if (value instanceof Boolean flag) {
      bytes.put((byte) (flag ? 1 : 0));
    } else if (value instanceof Float number) {
      bytes.putFloat(number);
    } else if (value instanceof Double number) {
      bytes.putDouble(number);
    } else {
      BigInteger number = value instanceof BigDecimal decimal
          ? decimal.unscaledValue()
          : new BigInteger(value.toString());
      for (int b = 0; b < type.widthBytes().orElseThrow(); b++) {
        bytes.put(number.shiftRight(8 * b).byteValue());
      }
    }
  }
}
