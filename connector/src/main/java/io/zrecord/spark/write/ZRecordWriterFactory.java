package io.zrecord.spark.write;

import io.zrecord.schema.Identity.Generation;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.table.IdentityNumbers;
import io.zrecord.table.RecordTable;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
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
    AbsentValue[] absent = absent(ordinal -> required(storage.location(), ordinal));
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
        new RowFields(RowWriters.of(columns, fields), absent(this::absent)));
  }

  private AbsentValue[] absent(IntFunction<AbsentValue> ofField) {
    return IntStream.range(0, fields.fields().size()).mapToObj(ofField).toArray(AbsentValue[]::new);
  }

  private AbsentValue required(String table, int ordinal) {
    return ordinal < columns.length()
            && RequiredValue.isOf(columns.apply(ordinal), fields.fields().get(ordinal))
        ? AbsentValue.refused(table, columns.apply(ordinal).name())
        : absent(ordinal);
  }

  /** A record that moves may have NULL where a later declaration says NOT NULL. */
  private AbsentValue absent(int ordinal) {
    return ordinal < columns.length()
        ? AbsentValue.ABSENT
        : fields
            .fields()
            .get(ordinal)
            .rules()
            .write()
            .map(AbsentValue::always)
            .orElse(AbsentValue.ABSENT);
  }
}
