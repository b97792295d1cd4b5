package io.zrecord.internal.values;

import io.zrecord.nested.NestedColumn;
import io.zrecord.nested.NestedView;
import io.zrecord.schema.Compression;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Converts Java objects to the bytes of a nested value. Stateless. */
final class NestedBytes {
  private static final byte[] NOTHING = new byte[0];

  private NestedBytes() {}

  static byte[] of(FieldSpec field, Object value) {
    NestedType type = field.type().requireTree();
    NestedColumn column = new NestedColumn(type);
    put(column, field.name(), value);
    return column.toBytes(NOTHING);
  }

  /** Requires that bytes are a value of a nested field. */
  static void check(FieldSpec field, byte[] bytes) {
    try {
      new NestedView(field.type().requireTree())
          .read("field '" + field.name() + "'", ByteBuffer.wrap(bytes));
    } catch (io.zrecord.errors.CorruptDataException e) {
      throw new IllegalArgumentException(
          "The bytes given to field '" + field.name() + "' are no value of type " + field.type()
              + ": " + e.getMessage(),
          e);
    }
  }

  private static void put(NestedColumn column, String path, @Nullable Object value) {
    NestedType type = column.type();
    if (value == null) {
      column.putAbsent();
    } else if (type instanceof NestedType.Leaf leaf) {
      FieldSpec field = new FieldSpec(1, path, leaf.element(), leaf.shape(), Compression.RAW);
      byte[] bytes = ValueBytes.of(field, value);
      column.put(bytes, 0, bytes.length);
    } else if (type instanceof NestedType.ListOf && value instanceof Iterable<?> elements) {
      for (Object element : elements) {
        put(column.child(0), path, element);
      }
      column.endValue();
    } else if (type instanceof NestedType.MapOf) {
      putMap(column, path, value);
    } else if (type instanceof NestedType.StructOf struct && value instanceof Map<?, ?> members) {
      putStruct(column, path, struct, members);
    } else {
      throw doesNotFit(path, type, value);
    }
  }

  private static void putMap(NestedColumn column, String path, Object value) {
    Iterable<?> entries = value instanceof Map<?, ?> map
        ? map.entrySet()
        : value instanceof Iterable<?> given ? given : null;
    if (entries == null) {
      throw doesNotFit(path, column.type(), value);
    }
    for (Object element : entries) {
      if (!(element instanceof Map.Entry<?, ?> entry)) {
        throw doesNotFit(path, column.type(), value);
      }
      put(column.child(0), path, entry.getKey());
      put(column.child(1), path, entry.getValue());
    }
    column.endValue();
  }

  private static void putStruct(
      NestedColumn column, String path, NestedType.StructOf struct, Map<?, ?> members) {
    int found = 0;
    for (int k = 0; k < struct.members().size(); k++) {
      String name = struct.members().get(k).name();
      found += members.containsKey(name) ? 1 : 0;
      put(column.child(k), name, members.get(name));
    }
    if (found != members.size()) {
      throw new IllegalArgumentException("A value for '" + path + "' has members "
          + members.keySet() + ", but the type is " + struct);
    }
    column.endValue();
  }

  private static IllegalArgumentException doesNotFit(String path, NestedType type, Object value) {
    return new IllegalArgumentException("A " + value.getClass().getSimpleName()
        + " does not fit '" + path + "' of type " + type
        + "; give an Iterable for a list, a Map or its entries for a map, and a Map by name for a"
        + " struct");
  }
}
