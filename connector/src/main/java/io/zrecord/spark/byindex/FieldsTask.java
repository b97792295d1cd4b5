package io.zrecord.spark.byindex;

import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.spark.job.ObjectBytes;
import io.zrecord.spark.scan.OpenVersions;
import io.zrecord.spark.scan.SnapshotId;
import io.zrecord.spark.write.ColumnValueWriter;
import io.zrecord.spark.write.RowWriters;
import io.zrecord.storage.Storage;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardFields;
import io.zrecord.table.write.ShardWriter;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * Writes the values of new fields beside the shards of which a partition has rows. Records without
 * a row lack the fields. Answers the shards with and without the fields, in turn, as bytes.
 *
 * @param version the version that has the shards
 * @param columns the columns before the index
 * @param fields the field of each column
 * @param options of the files
 */
record FieldsTask(SnapshotId version, StructType columns, RecordSchema fields, WriteOptions options)
    implements FlatMapFunction<Iterator<InternalRow>, byte[]> {
  private static final long serialVersionUID = 1L;

  @Override
  public Iterator<byte[]> call(Iterator<InternalRow> partition) {
    OrderedRows rows = new OrderedRows(partition, columns.length());
    WrittenFields written = new WrittenFields();
    try {
      ColumnValueWriter[] values = RowWriters.of(columns, fields);
      @Nullable InternalRow row = rows.hasNext() ? rows.next() : null;
      while (row != null) {
        row = shard(row, rows, values, written);
      }
      return List.of(ObjectBytes.of(written)).iterator();
    } catch (RuntimeException | Error e) {
      written.discard(OpenVersions.of(version).storage());
      throw e;
    }
  }

  /**
   * Writes the values of one shard.
   *
   * @return the first row of another shard; null if there is none
   */
  private @Nullable InternalRow shard(
      InternalRow first, OrderedRows rows, ColumnValueWriter[] values, WrittenFields written) {
    TableSnapshot base = OpenVersions.of(version);
    Storage storage = base.storage();
    int ordinal = base.shardOf(rows.index());
    long end = base.firstIndex(ordinal + 1);
    ShardSummary before = base.shards().get(ordinal);
    try (ShardWriter writer = ShardWriter.ofFields(storage, before, fields, options)) {
      long next = base.firstIndex(ordinal);
      @Nullable InternalRow row = first;
      while (row != null && rows.index() < end) {
        for (; next < rows.index(); next++) {
          writer.endRecord();
        }
        write(row, values, writer);
        next++;
        row = rows.hasNext() ? rows.next() : null;
      }
      for (; next < end; next++) {
        writer.endRecord();
      }
      ShardSummary added = writer.finish().orElseThrow();
      written.add(before, ShardFields.with(storage, before, added, options.durability()));
      return row;
    }
  }

  private void write(InternalRow row, ColumnValueWriter[] values, ShardWriter writer) {
    for (int i = 0; i < values.length; i++) {
      if (!row.isNullAt(i)) {
        values[i].write(row, i, writer);
      }
    }
    writer.endRecord();
  }
}
