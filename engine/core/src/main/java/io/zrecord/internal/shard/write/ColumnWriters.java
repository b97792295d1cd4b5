package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.io.Closing;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.WriteOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/** Chooses how each field of a shard is written. */
final class ColumnWriters {
  /** A value of this part of a block, or more, gains little from the others of the block. */
  private static final int LONG_PART = 4;

  /** Most bytes by which the writer of a field decides. */
  private static final int MOST_SAMPLE_BYTES = 1 << 16;

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
        ColumnTables tables = new ColumnTables(
            spool, options.checksum() == Checksum.CRC32C, new Binding(shardId, field.id()));
        Supplier<ColumnWriter> oneByOne = () -> new VariableRunWriter(
            field, tables, chunks, pool, options.alignBytes(), options.stripeBytes());
        // A dense value always goes through the stripe, so wide tensors are written as variable
        // runs: 8 bytes more for each.
        if (field.isDense() && field.valueWidthBytes().getAsInt() <= fairBytes) {
          writers.add(new DenseColumnWriter(field, tables, chunks, pool, alignment));
        } else if (field.compression().codec() == Codec.RAW || options.blockBytes() == 0) {
          writers.add(oneByOne.get());
        } else {
          Supplier<ColumnWriter> together = () -> new BlockColumnWriter(
              field,
              tables,
              chunks,
              pool,
              blockBytes(options, fieldCount),
              options.transform(),
              options.stripeBytes());
          writers.add(compressed(field, options, together, oneByOne));
        }
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

  /** Returns a writer of values that are compressed together if they are short. */
  private static ColumnWriter compressed(
      FieldSpec field,
      WriteOptions options,
      Supplier<ColumnWriter> together,
      Supplier<ColumnWriter> oneByOne) {
    int longBytes = (int) options.blockBytes() / LONG_PART;
    int width = field.valueWidthBytes().orElse(-1);
    if (width >= 0) {
      return (width > 0 && width < longBytes ? together : oneByOne).get();
    }
    int sampleBytes = Math.min((int) options.blockBytes(), MOST_SAMPLE_BYTES);
    return new SampledColumnWriter(field, sampleBytes, longBytes, together, oneByOne);
  }

  /** Returns the bytes of a block. Blocks of all fields together have a part of the memory. */
  private static int blockBytes(WriteOptions options, int fieldCount) {
    long fair = Math.max(FieldTables.LEAST_BLOCK_BYTES, options.stripeBytes() / 8 / fieldCount);
    return (int) Math.min(options.blockBytes(), fair);
  }
}
