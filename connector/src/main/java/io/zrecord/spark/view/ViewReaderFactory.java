package io.zrecord.spark.view;

import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.options.ViewName;
import io.zrecord.table.TableSnapshot;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * Makes readers of a view on the executors. On the driver, keeps the files that are read from being
 * removed.
 */
final class ViewReaderFactory implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private final ViewName view;
  private final StructType columns;
  private final RecordSchema schema;

  /**
   * The snapshot to keep. The files of a store's snapshot are removed when nothing refers to it.
   */
  @SuppressWarnings({"unused", "UnusedVariable"})
  private final transient TableSnapshot snapshot;

  ViewReaderFactory(ViewName view, StructType columns, TableSnapshot snapshot) {
    this.view = view;
    this.columns = columns;
    this.schema = snapshot.schema().withoutAttributes();
    this.snapshot = snapshot;
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    return new Reader(((ViewPartition) partition).rows(view, columns, schema).iterator());
  }

  private static final class Reader implements PartitionReader<InternalRow> {
    private final Iterator<InternalRow> rows;
    private @Nullable InternalRow current;

    Reader(Iterator<InternalRow> rows) {
      this.rows = rows;
    }

    @Override
    public boolean next() {
      boolean hasNext = rows.hasNext();
      current = hasNext ? rows.next() : null;
      return hasNext;
    }

    @Override
    public InternalRow get() {
      return java.util.Objects.requireNonNull(current);
    }

    @Override
    public void close() {}
  }
}
