package io.zrecord.serving;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.FieldSpec;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes the records of batches to a new shard. */
final class RecordSink implements Sink {
  private final RecordDatasetWriter writer;
  private final List<FieldSpec> fields;
  private final boolean isNumbered;
  private @Nullable RecordAppender appender;

  /**
   * Begins.
   *
   * @param writer is closed with the sink
   * @param fields the fields that batches give values of, in the order of the writer's
   * @param isNumbered whether the table gives records numbers, or has defaults that are expressions
   */
  RecordSink(RecordDatasetWriter writer, List<FieldSpec> fields, boolean isNumbered) {
    this.writer = writer;
    this.fields = fields;
    this.isNumbered = isNumbered;
  }

  @Override
  public List<FieldSpec> fields() {
    return fields;
  }

  @Override
  public void put(ColumnBatch batch) {
    RecordAppender records = appender;
    if (records == null) {
      records = writer.newAppender();
      appender = records;
    }
    if (isNumbered) {
      putNumbered(batch, records);
    } else {
      put(batch, records.shard());
    }
  }

  private static void put(ColumnBatch batch, ShardWriter shard) {
    Column[] columns = batch.columns().toArray(Column[]::new);
    for (int record = 0; record < batch.count(); record++) {
      for (int field = 0; field < columns.length; field++) {
        columns[field].put(record, shard, field);
      }
      shard.endRecord();
    }
  }

  private void putNumbered(ColumnBatch batch, RecordAppender records) {
    List<Column> columns = batch.columns();
    for (int record = 0; record < batch.count(); record++) {
      for (int field = 0; field < columns.size(); field++) {
        Column column = columns.get(field);
        records.set(fields.get(field).name(), column.isAbsent(record) ? null : column.copy(record));
      }
      records.endRecord();
    }
  }

  @Override
  public TableSnapshot commit() {
    return writer.commit();
  }

  @Override
  public void close() {
    writer.close();
  }
}
