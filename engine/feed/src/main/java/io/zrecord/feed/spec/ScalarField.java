package io.zrecord.feed.spec;

import io.zrecord.RecordDataset;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads all values of a field of single numbers into memory, as weights or labels to sample by.
 * Stateless.
 */
public final class ScalarField {
  private static final int BLOCK_RECORDS = 1 << 16;

  private ScalarField() {}

  /**
   * Reads the values as weights, 8 bytes a record.
   *
   * @throws IllegalArgumentException if the field is not of single numbers, or a record has no
   *     value
   */
  public static double[] weights(RecordDataset dataset, String field) {
    double[] weights = new double[countOf(dataset, field)];
    read(dataset, field, (i, type, bytes) -> weights[i] = NumberDecoder.next(type, bytes));
    return weights;
  }

  /**
   * Reads the values as labels, 4 bytes a record.
   *
   * @throws IllegalArgumentException if the field is not of single numbers, a record has no value,
   *     or a value is no whole number of 32 bits
   */
  public static int[] labels(RecordDataset dataset, String field) {
    int[] labels = new int[countOf(dataset, field)];
    read(dataset, field, (i, type, bytes) -> {
      double value = NumberDecoder.next(type, bytes);
      labels[i] = (int) value;
      if (labels[i] != value) {
        throw new IllegalArgumentException(
            "Cannot sample by field '" + field + "': record " + i
                + " has " + value
                + ", and labels are whole numbers from -2147483648 to 2147483647; choose another field");
      }
    });
    return labels;
  }

  /**
   * Requires a field of single numbers; booleans are 0 and 1.
   *
   * @throws IllegalArgumentException if the field is another
   */
  static void requireNumbers(FieldSpec field) {
    if (!field.shape().isScalar() || !NumberDecoder.isNumber(field.type())) {
      throw new IllegalArgumentException("Cannot sample by field '" + field.name() + "' of type "
          + field.type() + (field.shape().isScalar() ? "" : field.shape().toString())
          + ": choose a field with one number or bool for each record");
    }
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
    void put(int i, ElementType type, ByteBuffer bytes);
  }

  private static void read(RecordDataset dataset, String name, Target target) {
    FieldReader reader = dataset.reader(name);
    FieldSpec field = reader.field();
    requireNumbers(field);
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
        target.put(first + i, field.type(), values);
      }
      first += count;
    }
  }
}
