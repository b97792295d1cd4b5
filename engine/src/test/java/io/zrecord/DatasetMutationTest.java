package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.DamagedCopies.Original;
import io.zrecord.DamagedCopies.Outcome;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.Verification;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One file of a table is damaged, and its newest version opened and read: what was damaged is a
 * typed exception, and all that is read is as it was. Without verification the same shows wrong
 * values.
 */
class DatasetMutationTest {
  private static final int MUTATIONS = Math.max(100, Budget.of(1_000));

  /** One in 9 shows a wrong value: none does with a probability of 1e-12. */
  private static final int MUTATIONS_OF_THE_CONTROL = 250;

  private static final long SEED = Budget.seed();
  private static final int RECORDS = 100;
  private static final WriteOptions OPTIONS = WriteOptions.defaults()
      .withDurability(Durability.NONE)
      .withChunkBytes(1 << 16)
      .withStripeBytes(1 << 16);
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("raw", ElementType.BYTES)
      .field("dense", ElementType.I32)
      .field("never absent", ElementType.F32, Shape.of(9), Compression.RAW)
      .field("flate", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.FLATE))
      .field("zstd", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.ZSTD))
      .field("lz4", ElementType.I64, Shape.of(4), Compression.of(Codec.LZ4))
      .build();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private List<Original> originals;

  @BeforeEach
  void write() throws Exception {
    Path path = directory.resolve("original");
    SampleData data = SampleData.random(SCHEMA, RECORDS, 2_000, SEED);
    for (int half = 0; half < 2; half++) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(path.toString(), SCHEMA, OPTIONS)) {
        append(writer.newAppender(), data, half * RECORDS / 2, (half + 1) * RECORDS / 2);
        writer.commit();
      }
    }
    List<byte[] @Nullable []> records = new ArrayList<>();
    for (int i = 0; i < RECORDS; i++) {
      byte[][] values = new byte[SCHEMA.fields().size()][];
      for (int field = 0; field < values.length; field++) {
        values[field] = data.value(SCHEMA.fields().get(field).name(), i);
      }
      records.add(values);
    }
    originals = List.of(Original.of(path, List.of(records), ""));
  }

  private static void append(RecordAppender appender, SampleData data, int from, int to) {
    for (int i = from; i < to; i++) {
      for (FieldSpec field : SCHEMA.fields()) {
        byte[] value = data.value(field.name(), i);
        if (value != null) {
          appender.set(field.name(), value);
        }
      }
      appender.endRecord();
    }
  }

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  private DamagedCopies damage(int copies, Verification verification) throws Exception {
    DamagedCopies damaged = new DamagedCopies(
            directory, SEED, SCHEMA, copy -> DamagedReading.openTable(copy, verification))
        .run(copies, originals);
    System.out.println("Table, verification " + verification + ": " + damaged);
    return damaged;
  }

  @Test
  void whatIsDamagedIsRefusedAndTheRestIsAsItWas() throws Exception {
    DamagedCopies damaged = damage(MUTATIONS, Verification.FIRST);
    assertThat(damaged.failures(Outcome.WRONG)).isEmpty();
    assertThat(damaged.failures(Outcome.UNTYPED)).isEmpty();
    assertThat(damaged.failures(Outcome.GREEDY)).isEmpty();
    assertThat(damaged.failures(Outcome.HANGING)).isEmpty();
    assertThat(damaged.count(Outcome.REFUSED)).isPositive();
  }

  @Test
  void withoutVerificationWrongValuesAreRead() throws Exception {
    DamagedCopies damaged = damage(MUTATIONS_OF_THE_CONTROL, Verification.NEVER);
    assertThat(damaged.count(Outcome.WRONG)).isPositive();
    assertThat(damaged.failures(Outcome.UNTYPED)).isEmpty();
    assertThat(damaged.failures(Outcome.GREEDY)).isEmpty();
  }
}
