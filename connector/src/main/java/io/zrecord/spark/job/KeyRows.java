package io.zrecord.spark.job;

import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.scan.ReadSettings;
import io.zrecord.spark.scan.ZRecordInputPartition;
import io.zrecord.spark.scan.ZRecordPartitionReader;
import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Rows of a partition's records: the value of a field and the index. Values have Spark's simplest
 * type in the same order: texts are bytes, dates and times are numbers. Belongs to one task.
 */
final class KeyRows implements Iterator<Row> {
  private final ZRecordPartitionReader reader;
  private final DataType type;
  private Iterator<InternalRow> batch = Collections.emptyIterator();

  /** @param settings of a field and {@link MetadataColumns#INDEX} */
  KeyRows(ZRecordInputPartition partition, RecordSchema fields, ReadSettings settings) {
    DataType column = settings.columns().fields()[0].dataType();
    type = column instanceof StringType ? column : keyType(column);
    reader = new ZRecordPartitionReader(partition, fields, settings);
    TaskCompletionListener end = done -> reader.close();
    TaskContext.get().addTaskCompletionListener(end);
  }

  /** Returns the type of the values for a column of the given type. */
  static DataType keyType(DataType column) {
    return switch (column.typeName()) {
      case "string" -> DataTypes.BinaryType;
      case "date" -> DataTypes.IntegerType;
      case "timestamp", "timestamp_ntz" -> DataTypes.LongType;
      default -> column;
    };
  }

  @Override
  public boolean hasNext() {
    while (!batch.hasNext()) {
      ShardAttempt.requireRunning();
      if (!reader.next()) {
        return false;
      }
      batch = reader.get().rowIterator();
    }
    return true;
  }

  @Override
  public Row next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    InternalRow row = batch.next();
    return RowFactory.create(row.isNullAt(0) ? null : value(row), row.getLong(1));
  }

  /** Returns the value in the form that an encoder takes. */
  private Object value(InternalRow row) {
    Object value = row.get(0, type);
    if (value instanceof UTF8String text) {
      return text.getBytes();
    }
    return value instanceof Decimal decimal ? decimal.toJavaBigDecimal() : value;
  }
}
