package io.zrecord.spark;

import io.zrecord.RecordDataset;
import io.zrecord.scan.FieldReader;
import io.zrecord.schema.FieldSpec;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.ShortType;

/** Whole fields of numbers, in memory, for samplers that choose by them. */
final class FieldNumbers {
  private static final int ROWS = 8192;

  private FieldNumbers() {}

  /** Takes the number of each record in turn. */
  private interface Visitor {
    void number(int index, double value);
  }

  /** The values as weights; 8 bytes a record. */
  static double[] weights(RecordDataset dataset, String name) {
    double[] weights = new double[count(dataset, name)];
    visit(dataset, name, (index, value) -> weights[index] = value);
    return weights;
  }

  /**
   * The values as labels; 4 bytes a record.
   *
   * @throws IllegalArgumentException if one is no 32-bit integer
   */
  static int[] labels(RecordDataset dataset, String name) {
    int[] labels = new int[count(dataset, name)];
    visit(dataset, name, (index, value) -> {
      labels[index] = (int) value;
      if (labels[index] != value) {
        throw new IllegalArgumentException("Cannot sample " + dataset + " by the labels in '" + name
            + "': that of record " + index + " is " + value
            + ", and labels are whole numbers from -2147483648 to 2147483647");
      }
    });
    return labels;
  }

  /** Throws {@link IllegalArgumentException} if a field does not have one number for each record. */
  static void requireNumeric(FieldSpec field) {
    DataType type = SparkTypes.columnType(field);
    if (!(type instanceof NumericType || type instanceof BooleanType)) {
      throw new IllegalArgumentException("Cannot sample by the field '" + field.name()
          + "': its column is of type " + type.catalogString()
          + "; name a field with one number or boolean for each record");
    }
  }

  private static int count(RecordDataset dataset, String name) {
    if (dataset.length() > Integer.MAX_VALUE - 8) {
      throw new IllegalArgumentException("Cannot sample " + dataset + " by the field '" + name
          + "': it has " + dataset.length()
          + " records, and all its values must fit in one array; use another sampler");
    }
    return (int) dataset.length();
  }

  private static void visit(RecordDataset dataset, String name, Visitor visitor) {
    FieldReader reader = dataset.reader(name);
    FieldColumn column = FieldColumns.of(reader.field());
    column.open(reader);
    int length = count(dataset, name);
    int rows;
    for (int first = 0; first < length; first += rows) {
      rows = reader.selectRange(first, Math.min(ROWS, length - first), Long.MAX_VALUE);
      column.load();
      for (int row = 0; row < rows; row++) {
        if (column.isNullAt(row)) {
          throw new IllegalArgumentException("Cannot sample " + dataset + " by the field '" + name
              + "': record " + (first + row) + " has no value; give every record one");
        }
        visitor.number(first + row, number(column, row));
      }
    }
  }

  private static double number(FieldColumn column, int row) {
    DataType type = column.dataType();
    if (type instanceof BooleanType) {
      return column.getBoolean(row) ? 1 : 0;
    }
    if (type instanceof DoubleType) {
      return column.getDouble(row);
    }
    if (type instanceof FloatType) {
      return column.getFloat(row);
    }
    if (type instanceof LongType) {
      return column.getLong(row);
    }
    if (type instanceof IntegerType) {
      return column.getInt(row);
    }
    if (type instanceof ShortType) {
      return column.getShort(row);
    }
    if (type instanceof DecimalType decimal) {
      Decimal value = column.getDecimal(row, decimal.precision(), decimal.scale());
      return value.toDouble();
    }
    return column.getByte(row);
  }
}
