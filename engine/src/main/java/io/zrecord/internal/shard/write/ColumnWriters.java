package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.io.Closing;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.FileStems;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Chooses how each field of a shard is written. */
final class ColumnWriters {
  private static final int LARGEST_TABLE_BUFFER_BYTES = 64 << 10;
  private static final int SMALLEST_TABLE_BUFFER_BYTES = 1 << 10;

  private ColumnWriters() {}

  /**
   * Makes one writer for each field, in order. If a writer cannot be made, the files of the others
   * are closed again.
   */
  static List<ColumnWriter> create(
      Storage storage,
      String directory,
      UUID shardId,
      RecordSchema schema,
      WriteOptions options,
      ChunkWriter chunks,
      SegmentPool pool) {
    int fieldCount = Math.max(1, schema.fields().size());
    long fairBytes = options.stripeBytes() / 8 / fieldCount;
    int tableBufferBytes = (int) Math.max(
        SMALLEST_TABLE_BUFFER_BYTES, Math.min(LARGEST_TABLE_BUFFER_BYTES, fairBytes / 16 * 16));
    Alignment alignment = new Alignment(options.alignBytes());
    List<String> stems = FileStems.of(schema.fields());
    List<ColumnWriter> writers = new ArrayList<>();
    try {
      for (int i = 0; i < schema.fields().size(); i++) {
        FieldSpec field = schema.fields().get(i);
        // A dense value always goes through the stripe, so wide tensors are written as entries: 20
        // bytes more for each.
        boolean dense = field.isDense() && field.valueWidthBytes().getAsInt() <= fairBytes;
        ColumnFiles files = new ColumnFiles(
            storage, directory, stems.get(i), options.checksum(), new Binding(shardId, field.id()));
        writers.add(
            dense
                ? new DenseColumnWriter(field, files, chunks, pool, alignment)
                : new EntryColumnWriter(
                    field,
                    files,
                    chunks,
                    pool,
                    alignment,
                    options.stripeBytes(),
                    tableBufferBytes));
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
