package io.zrecord.spark.byindex;

import io.zrecord.spark.job.ObjectBytes;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;

/**
 * Gives records the values of the rows of a partition. Answers what a writer reports, as bytes.
 *
 * @param writers makes the writer of an attempt
 * @param columns number of columns before the index
 */
record UpdateTask(DeltaWriterFactory writers, int columns)
    implements FlatMapFunction<Iterator<InternalRow>, byte[]> {
  private static final long serialVersionUID = 1L;

  @Override
  public Iterator<byte[]> call(Iterator<InternalRow> partition) throws Exception {
    OrderedRows rows = new OrderedRows(partition, columns);
    if (!rows.hasNext()) {
      return Collections.emptyIterator();
    }
    TaskContext task = TaskContext.get();
    DeltaWriter<InternalRow> writer =
        writers.createWriter(task.partitionId(), task.taskAttemptId());
    try {
      GenericInternalRow id = new GenericInternalRow(1);
      while (rows.hasNext()) {
        InternalRow row = rows.next();
        id.update(0, rows.index());
        writer.update(id, id, row);
      }
      return List.of(ObjectBytes.of(writer.commit())).iterator();
    } catch (Exception | Error e) {
      writer.abort();
      throw e;
    } finally {
      writer.close();
    }
  }
}
