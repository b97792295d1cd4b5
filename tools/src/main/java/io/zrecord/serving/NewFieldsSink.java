package io.zrecord.serving;

import io.zrecord.RecordAppender;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.schema.FieldSpec;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gives the records of a table values of new fields, in the order of their indices. */
final class NewFieldsSink implements Sink {
  private final RecordFieldsWriter writer;
  private int shard = -1;
  private long leftInShard;
  private long given;
  private @Nullable RecordAppender appender;

  /**
   * Begins.
   *
   * @param writer is closed with the sink
   */
  NewFieldsSink(RecordFieldsWriter writer) {
    this.writer = writer;
  }

  @Override
  public List<FieldSpec> fields() {
    return writer.schema().fields();
  }

  @Override
  public void put(ColumnBatch batch) {
    if (batch.count() > writer.base().length() - given) {
      throw wrongCount(given + batch.count() + " or more");
    }
    for (int record = 0; record < batch.count(); record++) {
      RecordAppender values = next();
      for (int field = 0; field < fields().size(); field++) {
        Column column = batch.columns().get(field);
        values.set(
            fields().get(field).name(), column.isAbsent(record) ? null : column.copy(record));
      }
      values.endRecord();
      leftInShard--;
    }
    given += batch.count();
  }

  private RecordAppender next() {
    while (leftInShard == 0) {
      if (appender != null) {
        writer.finish(shard);
      }
      shard++;
      leftInShard = writer.base().shards().get(shard).length();
      appender = leftInShard == 0 ? null : writer.newAppender(shard);
    }
    RecordAppender current = appender;
    if (current == null) {
      throw new IllegalStateException("A shard with records has no appender");
    }
    return current;
  }

  @Override
  public TableSnapshot commit() {
    if (given != writer.base().length()) {
      throw wrongCount(String.valueOf(given));
    }
    return writer.commit();
  }

  private IllegalArgumentException wrongCount(String found) {
    return new IllegalArgumentException(
        "There are " + found + " values of the new fields, but " + writer.base().length()
            + " records; give each record a value, or none where it is absent");
  }

  @Override
  public void close() {
    writer.close();
  }
}
