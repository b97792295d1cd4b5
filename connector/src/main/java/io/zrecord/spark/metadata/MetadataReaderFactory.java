package io.zrecord.spark.metadata;

import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.options.ViewName;
import io.zrecord.table.TableSnapshot;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * Makes readers of a metadata table on the executors. On the driver, keeps the files that are read
 * from being removed.
 */
final class MetadataReaderFactory implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private final ViewName table;
  private final StructType columns;
  private final RecordSchema schema;
  private final List<FieldSpec> partitionFields;

  /**
   * The snapshot to keep. The files of a store's snapshot are removed when nothing refers to it.
   */
  @SuppressWarnings({"unused", "UnusedVariable"})
  private final transient @Nullable TableSnapshot snapshot;

  MetadataReaderFactory(
      ViewName table, StructType columns, MetadataRows rows, Optional<TableSnapshot> snapshot) {
    this.table = table;
    this.columns = columns;
    this.schema = rows.schema().withoutAttributes();
    this.partitionFields =
        rows.partitionFields().stream().map(FieldSpec::withoutAttributes).toList();
    this.snapshot = snapshot.orElse(null);
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    MetadataRows rows = new MetadataRows(schema, partitionFields);
    return new Reader(((MetadataPartition) partition).rows(table, columns, rows).iterator());
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
