package io.zrecord.arrow;

import com.google.flatbuffers.FlatBufferBuilder;
import io.zrecord.feed.FeedBatch;
import io.zrecord.nested.NestedColumn;
import io.zrecord.nested.NestedView;
import io.zrecord.schema.NestedType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.TreeMap;
import org.apache.arrow.flatbuf.FixedSizeList;
import org.apache.arrow.flatbuf.Struct_;
import org.apache.arrow.flatbuf.Type;

/**
 * A nested field as an Arrow column: lists, maps and structs are those of Arrow, and a tensor is an
 * {@code arrow.fixed_shape_tensor}. Belongs to one thread.
 */
final class ArrowNested {
  private final String name;
  private final NestedColumn values;
  private final NestedView view;

  ArrowNested(String name, NestedType type) {
    this.name = name;
    this.values = new NestedColumn(type);
    this.view = new NestedView(type);
  }

  /** Writes the column into a schema and returns its offset. */
  int field(FlatBufferBuilder builder, Map<String, String> metadata) {
    return field(builder, name, values.type(), true, metadata);
  }

  private static int field(
      FlatBufferBuilder builder,
      String name,
      NestedType type,
      boolean isNullable,
      Map<String, String> metadata) {
    if (type instanceof NestedType.Leaf leaf) {
      return leaf(builder, name, leaf, isNullable, metadata);
    }
    if (type instanceof NestedType.ListOf list) {
      int item = field(builder, "item", list.element(), true, Map.of());
      int offset = ArrowTypes.empty(builder, Type.List);
      return ArrowColumn.node(
          builder, name, isNullable, Type.List, offset, new int[] {item}, metadata);
    }
    if (type instanceof NestedType.MapOf map) {
      int key = field(builder, "key", map.key(), false, Map.of());
      int value = field(builder, "value", map.value(), true, Map.of());
      int struct = struct(builder);
      int entries = ArrowColumn.node(
          builder, "entries", false, Type.Struct_, struct, new int[] {key, value}, Map.of());
      int offset = org.apache.arrow.flatbuf.Map.createMap(builder, false);
      return ArrowColumn.node(
          builder, name, isNullable, Type.Map, offset, new int[] {entries}, metadata);
    }
    NestedType.StructOf found = (NestedType.StructOf) type;
    int[] members = new int[found.members().size()];
    for (int k = 0; k < members.length; k++) {
      NestedType.Member member = found.members().get(k);
      members[k] = field(builder, member.name(), member.type(), true, Map.of());
    }
    return ArrowColumn.node(
        builder, name, isNullable, Type.Struct_, struct(builder), members, metadata);
  }

  private static int struct(FlatBufferBuilder builder) {
    Struct_.startStruct_(builder);
    return Struct_.endStruct_(builder);
  }

  private static int leaf(
      FlatBufferBuilder builder,
      String name,
      NestedType.Leaf leaf,
      boolean isNullable,
      Map<String, String> metadata) {
    Map<String, String> all = new TreeMap<>(metadata);
    if (leaf.shape().isScalar()) {
      int type = ArrowTypes.write(builder, leaf.element());
      return ArrowColumn.node(
          builder, name, isNullable, ArrowTypes.of(leaf.element()), type, new int[0], all);
    }
    all.put("ARROW:extension:name", "arrow.fixed_shape_tensor");
    all.put("ARROW:extension:metadata", "{\"shape\":" + leaf.shape() + "}");
    int item = leaf(
        builder,
        "item",
        new NestedType.Leaf(leaf.element(), io.zrecord.schema.Shape.scalar()),
        true,
        Map.of());
    int list = FixedSizeList.createFixedSizeList(builder, leaf.elementCount());
    return ArrowColumn.node(
        builder, name, isNullable, Type.FixedSizeList, list, new int[] {item}, all);
  }

  /** Adds the values of a batch. */
  void add(FeedBatch batch, ArrowBody body) {
    values.clear();
    ByteBuffer data = batch.data(name).duplicate().order(ByteOrder.LITTLE_ENDIAN);
    int first = data.position();
    int[] ends = batch.ends(name);
    for (int i = 0; i < batch.count(); i++) {
      if (batch.isAbsent(name, i)) {
        values.putAbsent();
      } else {
        int start = i == 0 ? 0 : ends[i - 1];
        values.appendAll(
            view.read("field '" + name + "'", data.slice(first + start, ends[i] - start)));
      }
    }
    add(values, body);
  }

  private static void add(NestedColumn column, ArrowBody body) {
    body.addNode(column);
    if (column.type() instanceof NestedType.Leaf leaf) {
      if (leaf.isVariable()) {
        body.addBuffer(offsets(column));
      } else if (!leaf.shape().isScalar()) {
        body.addNode((long) column.count() * leaf.elementCount());
      }
      ByteBuffer data = ByteBuffer.allocate(column.dataBytes())
          .order(ByteOrder.LITTLE_ENDIAN)
          .put(column.data(), 0, column.dataBytes())
          .flip();
      body.addBuffer(ArrowTypes.elements(leaf.element(), data));
      return;
    }
    if (!(column.type() instanceof NestedType.StructOf)) {
      body.addBuffer(offsets(column));
    }
    if (column.type() instanceof NestedType.MapOf) {
      body.addNode(column.child(0).count());
    }
    for (int k = 0; k < column.type().children().size(); k++) {
      add(column.child(k), body);
    }
  }

  private static ByteBuffer offsets(NestedColumn column) {
    ByteBuffer offsets =
        ArrowBody.allocate((column.count() + 1L) * Integer.BYTES).putInt(0);
    for (int i = 0; i < column.count(); i++) {
      offsets.putInt(column.end(i));
    }
    return offsets.flip();
  }
}
