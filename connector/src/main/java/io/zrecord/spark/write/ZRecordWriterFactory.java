package io.zrecord.spark.write;

import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardWriter;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Makes a writer for each attempt of a task. Retries and speculation run several attempts for one
 * partition at once, so each attempt gives its shard a new name.
 *
 * @param location location of the table
 * @param columns the columns of the rows
 * @param fields the field of each column, and those that get their default
 * @param options the layout of the data
 */
record ZRecordWriterFactory(
    TableLocation location, StructType columns, RecordSchema fields, WriteOptions options)
    implements DataWriterFactory {

  @Override
  public DataWriter<InternalRow> createWriter(int partitionId, long taskId) {
    Storage storage = location.storage();
    return new ZRecordDataWriter(
        storage,
        ShardWriter.create(storage, fields, options),
        RowWriters.of(columns, fields),
        required(),
        defaults());
  }

  /** Returns the columns, not nullable where the field is not. */
  private StructType required() {
    StructField[] required = columns.fields().clone();
    for (int i = 0; i < required.length; i++) {
      StructField column = required[i];
      required[i] = new StructField(
          column.name(),
          column.dataType(),
          column.nullable() && fields.fields().get(i).rules().isNullable(),
          column.metadata());
    }
    return new StructType(required);
  }

  private byte[][] defaults() {
    return fields.fields().stream()
        .skip(columns.length())
        .map(field -> field.rules().write().orElseThrow())
        .toArray(byte[][]::new);
  }
}
