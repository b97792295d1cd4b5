package io.zrecord.spark.write;

import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity.Generation;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.table.IdentityNumbers;
import io.zrecord.table.RecordTable;
import java.util.List;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.types.StructType;

/**
 * Makes a writer for each attempt of a task. Retries and speculation run several attempts for one
 * partition at once, so each attempt gives its shards new names.
 *
 * @param location location of the table
 * @param columns the columns of the rows
 * @param fields the field of each column, and those that no column has
 * @param numbered the fields that the table numbers
 * @param partitioning the fields by which rows are divided
 * @param options the layout of the data
 */
public record ZRecordWriterFactory(
    TableLocation location,
    StructType columns,
    RecordSchema fields,
    List<NumberedField> numbered,
    Partitioning partitioning,
    WriteOptions options)
    implements DataWriterFactory {

  @Override
  public ZRecordDataWriter createWriter(int partitionId, long taskId) {
    Storage storage = location.storage();
    ColumnValueWriter[] writers = RowWriters.of(columns, fields);
    AbsentValue[] absent = absent();
    for (NumberedField field : numbered) {
      IdentityNumbers numbers = field.numbers(RecordTable.at(storage), partitionId);
      absent[field.ordinal()] = (shard, ordinal) -> shard.putLong(ordinal, numbers.next());
      if (field.ordinal() < writers.length && field.identity().generation() == Generation.ALWAYS) {
        writers[field.ordinal()] = (row, i, shard) -> {
          throw field.given();
        };
      }
    }
    return new ZRecordDataWriter(
        storage,
        partitioning.shards(storage, columns, fields, options),
        new RowFields(writers, absent),
        new RowFields(RowWriters.of(columns, fields), absent()));
  }

  private AbsentValue[] absent() {
    AbsentValue[] absent = new AbsentValue[fields.fields().size()];
    for (int i = 0; i < absent.length; i++) {
      absent[i] = absent(i);
    }
    return absent;
  }

  private AbsentValue absent(int ordinal) {
    FieldSpec field = fields.fields().get(ordinal);
    if (ordinal >= columns.length()) {
      return field.rules().write().map(AbsentValue::always).orElse(AbsentValue.ABSENT);
    }
    return columns.apply(ordinal).nullable() && field.rules().isNullable()
        ? AbsentValue.ABSENT
        : AbsentValue.refused(columns.apply(ordinal).name());
  }
}
