package io.zrecord.cli;

import io.zrecord.RecordDataset;
import io.zrecord.scan.FieldReader;
import io.zrecord.schema.ElementType.Kind;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Set;

/** All values of a field of single numbers, in memory: what weights and classes are sampled by. Stateless. */
final class ScalarField {
  private static final int BLOCK_RECORDS = 1 << 16;
  private static final Set<Kind> NUMBERS = EnumSet.of(
      Kind.BOOL, Kind.I8, Kind.U8, Kind.I16, Kind.U16, Kind.I32, Kind.U32, Kind.I64, Kind.F32,
      Kind.F64);

  private ScalarField() {}

  /** The values as weights. */
  static double[] weights(RecordDataset dataset, String field) {
    double[] weights = new double[countOf(dataset, field)];
    read(dataset, field, (i, type, bytes) -> weights[i] = number(type, bytes));
    return weights;
  }

  /** The values as classes; they must be whole numbers of 32 bits. */
  static int[] labels(RecordDataset dataset, String field) {
    int[] labels = new int[countOf(dataset, field)];
    read(dataset, field, (i, type, bytes) -> {
      double value = number(type, bytes);
      labels[i] = (int) value;
      if (labels[i] != value) {
        throw new IllegalArgumentException("Cannot sample by field '" + field + "': record " + i
            + " has " + value + ", and a class is a whole number of 32 bits; choose another field");
      }
    });
    return labels;
  }

  private static int countOf(RecordDataset dataset, String field) {
    if (dataset.length() > Integer.MAX_VALUE - 8) {
      throw new IllegalArgumentException("Cannot sample " + dataset + " by field '" + field
          + "': it has " + dataset.length() + " records, and " + (Integer.MAX_VALUE - 8)
          + " values at most are held in memory");
    }
    return (int) dataset.length();
  }

  @FunctionalInterface
  private interface Target {
    void put(int i, FieldSpec field, ByteBuffer bytes);
  }

  private static void read(RecordDataset dataset, String name, Target target) {
    FieldReader reader = dataset.reader(name);
    FieldSpec field = reader.field();
    if (!field.shape().isScalar() || !NUMBERS.contains(field.type().kind())) {
      throw unsuitable(field);
    }
    int length = (int) dataset.length();
    for (int first = 0; first < length; ) {
      int count =
          reader.selectRange(first, Math.min(BLOCK_RECORDS, length - first), Long.MAX_VALUE);
      byte[] bytes = new byte[Math.toIntExact(reader.totalLengthBytes())];
      reader.copyAll(bytes, 0);
      ByteBuffer values = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < count; i++) {
        if (reader.isAbsent(i)) {
          throw new IllegalArgumentException("Cannot sample by field '" + name + "': record "
              + (first + i) + " has no value; choose another field, or leave such records out");
        }
        target.put(first + i, field, values);
      }
      first += count;
    }
  }

  private static double number(FieldSpec field, ByteBuffer bytes) {
    return switch (field.type().kind()) {
      case BOOL, U8 -> Byte.toUnsignedInt(bytes.get());
      case I8 -> bytes.get();
      case I16 -> bytes.getShort();
      case U16 -> Short.toUnsignedInt(bytes.getShort());
      case I32 -> bytes.getInt();
      case U32 -> Integer.toUnsignedLong(bytes.getInt());
      case I64 -> bytes.getLong();
      case F32 -> bytes.getFloat();
      case F64 -> bytes.getDouble();
      default -> throw unsuitable(field);
    };
  }

  private static IllegalArgumentException unsuitable(FieldSpec field) {
    return new IllegalArgumentException("Cannot sample by field '" + field.name() + "' of type "
        + field.type() + (field.shape().isScalar() ? "" : field.shape().toString())
        + ": choose a field of single numbers (bool, i8, u8, i16, u16, i32, u32, i64, f32, f64)");
  }
}
