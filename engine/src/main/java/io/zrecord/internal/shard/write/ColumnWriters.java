package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.io.Closing;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.WriteOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Chooses how each field of a shard is written. */
final class ColumnWriters {
  private ColumnWriters() {}

  /**
   * Makes one writer for each field, in order. If a writer cannot be made, the others are closed
   * again.
   */
  static List<ColumnWriter> create(
      UUID shardId,
      RecordSchema schema,
      WriteOptions options,
      ChunkWriter chunks,
      SegmentPool pool,
      TableSpool spool) {
    int fieldCount = Math.max(1, schema.fields().size());
    long fairBytes = options.stripeBytes() / 8 / fieldCount;
    Alignment alignment = new Alignment(options.alignBytes());
    List<ColumnWriter> writers = new ArrayList<>();
    try {
      for (FieldSpec field : schema.fields()) {
        // A dense value always goes through the stripe, so wide tensors are written as entries: 20
        // bytes more for each.
        boolean dense = field.isDense() && field.valueWidthBytes().getAsInt() <= fairBytes;
        ColumnTables tables = new ColumnTables(
            spool, options.checksum() == Checksum.CRC32C, new Binding(shardId, field.id()));
        writers.add(
            dense
                ? new DenseColumnWriter(field, tables, chunks, pool, alignment)
                : new EntryColumnWriter(
                    field, tables, chunks, pool, alignment, options.stripeBytes()));
      }
      return writers;
    } catch (RuntimeException | Error e) {
      try {
        Closing.all(writers);
      } catch (RuntimeException closing) {
        e.addSuppressed(closing);
      }
      throw e;
    }
  }
}
