package io.zrecord.arrow;

import com.google.flatbuffers.FlatBufferBuilder;
import io.zrecord.schema.ElementType;
import java.nio.ByteBuffer;
import org.apache.arrow.flatbuf.Binary;
import org.apache.arrow.flatbuf.Bool;
import org.apache.arrow.flatbuf.Date;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Decimal;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Precision;
import org.apache.arrow.flatbuf.TimeUnit;
import org.apache.arrow.flatbuf.Timestamp;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.flatbuf.Utf8;

/**
 * Maps element types of zrecord to those of Arrow. {@code bf16}, which Arrow lacks, becomes an
 * unsigned number of 16 bits. Stateless.
 */
final class ArrowTypes {
  private static final int DECIMAL_BYTES = 16;

  private ArrowTypes() {}

  /** Returns the number of the type in an Arrow schema. */
  static byte of(ElementType type) {
    return switch (type.kind()) {
      case BOOL -> Type.Bool;
      case I8, U8, I16, U16, I32, U32, I64, U64, BF16 -> Type.Int;
      case F16, F32, F64 -> Type.FloatingPoint;
      case DATE -> Type.Date;
      case TIMESTAMP, TIMESTAMP_NTZ -> Type.Timestamp;
      case DECIMAL -> Type.Decimal;
      case BYTES -> Type.Binary;
      case UTF8 -> Type.Utf8;
      case NESTED -> throw new IllegalArgumentException("Not one element: " + type);
    };
  }

  /** Writes a type without parameters. */
  static int empty(FlatBufferBuilder builder, byte type) {
    switch (type) {
      case Type.Binary -> Binary.startBinary(builder);
      case Type.Utf8 -> Utf8.startUtf8(builder);
      case Type.Bool -> Bool.startBool(builder);
      default -> org.apache.arrow.flatbuf.List.startList(builder);
    }
    return builder.endTable();
  }

  /** Writes the type of an element. */
  static int write(FlatBufferBuilder builder, ElementType type) {
    int bits = type.widthBytes().orElse(0) * Byte.SIZE;
    return switch (type.kind()) {
      case I8, I16, I32, I64 -> Int.createInt(builder, bits, true);
      case U8, U16, U32, U64, BF16 -> Int.createInt(builder, bits, false);
      case F16 -> FloatingPoint.createFloatingPoint(builder, Precision.HALF);
      case F32 -> FloatingPoint.createFloatingPoint(builder, Precision.SINGLE);
      case F64 -> FloatingPoint.createFloatingPoint(builder, Precision.DOUBLE);
      case DATE -> Date.createDate(builder, DateUnit.DAY);
      case TIMESTAMP ->
        Timestamp.createTimestamp(builder, TimeUnit.MICROSECOND, builder.createString("UTC"));
      case TIMESTAMP_NTZ -> Timestamp.createTimestamp(builder, TimeUnit.MICROSECOND, 0);
      case DECIMAL ->
        Decimal.createDecimal(builder, type.precision(), type.scale(), DECIMAL_BYTES * Byte.SIZE);
      case BOOL, BYTES, UTF8, NESTED -> empty(builder, of(type));
    };
  }

  /**
   * Returns the elements in Arrow's form. The bytes stay the same, except booleans, which become
   * bits, and decimals, which have 16 bytes.
   */
  static ByteBuffer elements(ElementType type, ByteBuffer data) {
    return switch (type.kind()) {
      case BOOL -> bits(data);
      case DECIMAL ->
        type.widthBytes().orElseThrow() == DECIMAL_BYTES
            ? data
            : wide(data, type.widthBytes().orElseThrow());
      default -> data;
    };
  }

  private static ByteBuffer bits(ByteBuffer data) {
    ByteBuffer bits = ArrowBody.allocate((data.remaining() + 7L) / 8);
    for (int i = 0; i < data.remaining(); i++) {
      if (data.get(i) != 0) {
        bits.put(i >> 3, (byte) (bits.get(i >> 3) | 1 << (i & 7)));
      }
    }
    return bits;
  }

  private static ByteBuffer wide(ByteBuffer data, int elementBytes) {
    int count = data.remaining() / elementBytes;
    ByteBuffer wide = ArrowBody.allocate((long) count * DECIMAL_BYTES);
    for (int i = 0; i < count; i++) {
      long value = elementBytes == Integer.BYTES
          ? data.getInt(i * Integer.BYTES)
          : data.getLong(i * Long.BYTES);
      wide.putLong(value).putLong(value >> (Long.SIZE - 1));
    }
    return wide.flip();
  }
}
