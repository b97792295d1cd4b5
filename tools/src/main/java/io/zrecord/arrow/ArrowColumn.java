package io.zrecord.arrow;

import com.google.flatbuffers.FlatBufferBuilder;
import io.zrecord.feed.FeedBatch;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FixedSizeList;
import org.apache.arrow.flatbuf.Type;
import org.jspecify.annotations.Nullable;

/**
 * A field as an Arrow column.
 *
 * <table>
 * <caption>What becomes of a field</caption>
 * <tr><td>one element</td><td>a column of that type</td></tr>
 * <tr><td>fixed shape</td><td>{@code arrow.fixed_shape_tensor}, a fixed-size list</td></tr>
 * <tr><td>first dimension variable or padded</td><td>a list; of fixed-size lists, if there are other dimensions</td></tr>
 * <tr><td>nested</td><td>lists, maps and structs, see {@link ArrowNested}</td></tr>
 * <tr><td>{@code bytes}, {@code utf8}</td><td>binary, utf8; binary if padded</td></tr>
 * </table>
 *
 * <p>The field's metadata has {@code zrecord.dtype} and {@code zrecord.shape}. Absent values are
 * null. Belongs to one thread.
 */
final class ArrowColumn {
  static final FieldSpec INDEX =
      new FieldSpec(1, "_index", ElementType.I64, Shape.scalar(), Compression.RAW);

  private final FieldSpec field;
  private final boolean isPadded;
  private final boolean isBytes;
  private final @Nullable ArrowNested nested;

  ArrowColumn(FieldSpec field, boolean isPadded) {
    this.field = field;
    this.isPadded = isPadded;
    this.isBytes = field.type().widthBytes().isEmpty();
    this.nested = field.type().tree() == null
        ? null
        : new ArrowNested(field.name(), field.type().requireTree());
  }

  /** Writes the column into a schema and returns its offset. */
  int field(FlatBufferBuilder builder) {
    Map<String, String> metadata = new TreeMap<>();
    metadata.put("zrecord.dtype", field.type().toString());
    metadata.put("zrecord.shape", field.shape().toString());
    if (nested != null) {
      return nested.field(builder, metadata);
    }
    if (isBytes) {
      byte type = isPadded || field.type().equals(ElementType.BYTES) ? Type.Binary : Type.Utf8;
      int offset = ArrowTypes.empty(builder, type);
      return node(builder, field.name(), type, offset, new int[0], metadata);
    }
    if (field.shape().isScalar()) {
      return element(builder, field.name(), metadata);
    }
    if (!field.shape().isVariable()) {
      metadata.put("ARROW:extension:name", "arrow.fixed_shape_tensor");
      metadata.put("ARROW:extension:metadata", "{\"shape\":" + field.shape() + "}");
      int count = field.shape().elementCount().orElseThrow();
      return fixedSizeList(builder, field.name(), count, metadata);
    }
    int step = field.shape().elementsPerStep();
    int item = hasSteps()
        ? fixedSizeList(builder, "item", step, Map.of())
        : element(builder, "item", Map.of());
    int list = ArrowTypes.empty(builder, Type.List);
    return node(builder, field.name(), Type.List, list, new int[] {item}, metadata);
  }

  /** Tells whether a step of the variable dimension has more than one element. */
  private boolean hasSteps() {
    return field.shape().dimensions().size() > 1;
  }

  private int fixedSizeList(
      FlatBufferBuilder builder, String name, int size, Map<String, String> metadata) {
    int item = element(builder, "item", Map.of());
    int list = FixedSizeList.createFixedSizeList(builder, size);
    return node(builder, name, Type.FixedSizeList, list, new int[] {item}, metadata);
  }

  private int element(FlatBufferBuilder builder, String name, Map<String, String> metadata) {
    int type = ArrowTypes.write(builder, field.type());
    return node(builder, name, ArrowTypes.of(field.type()), type, new int[0], metadata);
  }

  private static int node(
      FlatBufferBuilder builder,
      String name,
      byte type,
      int typeOffset,
      int[] children,
      Map<String, String> metadata) {
    return node(builder, name, true, type, typeOffset, children, metadata);
  }

  /** Writes a field into a schema and returns its offset. */
  static int node(
      FlatBufferBuilder builder,
      String name,
      boolean isNullable,
      byte type,
      int typeOffset,
      int[] children,
      Map<String, String> metadata) {
    int pairs = Field.createCustomMetadataVector(builder, Metadata.pairs(builder, metadata));
    int childVector = Field.createChildrenVector(builder, children);
    int nameOffset = builder.createString(name);
    return Field.createField(
        builder, nameOffset, isNullable, type, typeOffset, 0, childVector, pairs);
  }

  /** Adds the values of a batch. */
  void add(FeedBatch batch, ArrowBody body) {
    if (nested != null) {
      nested.add(batch, body);
      return;
    }
    String name = field.name();
    ByteBuffer data = batch.data(name).duplicate().order(java.nio.ByteOrder.LITTLE_ENDIAN);
    body.addNode(batch, name);
    if (isBytes) {
      body.addBuffer(offsets(batch, 1));
      body.addBuffer(data);
      return;
    }
    int elementBytes = field.type().widthBytes().orElseThrow();
    long elements = data.remaining() / elementBytes;
    if (!field.shape().isScalar()) {
      if (field.shape().isVariable()) {
        int stepBytes = elementBytes * field.shape().elementsPerStep();
        body.addBuffer(offsets(batch, stepBytes));
        if (hasSteps()) {
          body.addNode(stepBytes == 0 ? 0 : data.remaining() / stepBytes);
        }
      }
      body.addNode(elements);
    }
    body.addBuffer(ArrowTypes.elements(field.type(), data));
  }

  /** Returns the beginnings of the values and the end of the last, in steps. */
  private ByteBuffer offsets(FeedBatch batch, int stepBytes) {
    ByteBuffer offsets =
        ArrowBody.allocate((batch.count() + 1L) * Integer.BYTES).putInt(0);
    if (isPadded) {
      int steps = batch.dimensions(field.name())[1];
      for (int i = 1; i <= batch.count(); i++) {
        offsets.putInt(i * steps);
      }
    } else {
      for (int end : batch.ends(field.name())) {
        offsets.putInt(stepBytes == 0 ? 0 : end / stepBytes);
      }
    }
    return offsets.flip();
  }
}
