package io.zrecord;

import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardWriter;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Records with every type and codec, absent, empty and large values, that replay from a seed. */
final class SampleData {
  private final RecordSchema schema;
  private final byte[][][] values;

  private SampleData(RecordSchema schema, byte[][][] values) {
    this.schema = schema;
    this.values = values;
  }

  /** Returns a schema in which every type and every codec appears, but for nested types. */
  static RecordSchema everything() {
    RecordSchema.Builder builder = RecordSchema.builder();
    for (ElementType.Kind kind : EnumSet.complementOf(EnumSet.of(ElementType.Kind.NESTED))) {
      ElementType type =
          kind == ElementType.Kind.DECIMAL ? ElementType.decimal(20, 3) : ElementType.of(kind);
      builder.field("raw-" + type, type);
    }
    for (Codec codec : Codec.values()) {
      builder.field(codec + " 字节", ElementType.BYTES, Shape.scalar(), Compression.of(codec));
      builder.field(codec + " i32", ElementType.I32, Shape.scalar(), Compression.of(codec));
      builder.field(codec + " tensor", ElementType.F32, Shape.of(-1, 3), Compression.of(codec));
      builder.field(codec + " fixed", ElementType.U8, Shape.of(28, 28), Compression.of(codec));
    }
    builder.field("never absent", ElementType.I64);
    builder.field("nothing", ElementType.U8, Shape.of(0), Compression.RAW);
    return builder.build();
  }

  static SampleData random(RecordSchema schema, int count, long seed) {
    return random(schema, count, 20_000, seed);
  }

  /**
   * Makes values; those of no fixed width have mostly less than 200, seldom up to {@code largest}
   * elements.
   */
  static SampleData random(RecordSchema schema, int count, int largest, long seed) {
    Random random = new Random(seed);
    byte[][][] values = new byte[schema.fields().size()][count][];
    for (int f = 0; f < values.length; f++) {
      FieldSpec field = schema.fields().get(f);
      for (int i = 0; i < count; i++) {
        boolean absent = !field.name().startsWith("never") && random.nextInt(7) == 0;
        values[f][i] = absent ? null : value(field, largest, random);
      }
    }
    return new SampleData(schema, values);
  }

  /** Returns data of some records, each with a value for each field. */
  static SampleData of(RecordSchema schema, List<byte[][]> records) {
    byte[][][] values = new byte[schema.fields().size()][records.size()][];
    for (int i = 0; i < records.size(); i++) {
      for (int f = 0; f < values.length; f++) {
        values[f][i] = records.get(i)[f];
      }
    }
    return new SampleData(schema, values);
  }

  /** Returns the values of a record, one for each field. */
  byte[][] record(int i) {
    byte[][] record = new byte[values.length][];
    for (int f = 0; f < values.length; f++) {
      record[f] = values[f][i];
    }
    return record;
  }

  private static byte[] value(FieldSpec field, int largest, Random random) {
    int step = field.type().widthBytes().orElse(1) * field.shape().elementsPerStep();
    int length = field
        .valueWidthBytes()
        .orElseGet(() -> step
            * switch (random.nextInt(10)) {
              case 0 -> 0;
              case 1 -> random.nextInt(largest);
              default -> random.nextInt(Math.min(200, largest));
            });
    byte[] value = new byte[length];
    random.nextBytes(value);
    if (random.nextBoolean()) {
      // Compressible.
      for (int i = 0; i < length; i++) {
        value[i] = (byte) (value[i] & 3);
      }
    }
    return value;
  }

  RecordSchema schema() {
    return schema;
  }

  int count() {
    return values[0].length;
  }

  byte @Nullable [] value(String field, int record) {
    return values[schema.ordinal(field)][record];
  }

  /** Writes the records {@code [from, to)} as a shard of the table at the storage. */
  ShardSummary write(Storage storage, WriteOptions options, int from, int to) {
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, options)) {
      for (int i = from; i < to; i++) {
        for (int f = 0; f < values.length; f++) {
          byte[] value = values[f][i];
          if (value != null) {
            writer.put(f, value, 0, value.length);
          }
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }
}
