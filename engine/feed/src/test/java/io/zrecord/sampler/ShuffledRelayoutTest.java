package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.rebalance.order.Arrangement;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.ElementType.Kind;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.ShuffledOrder;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A table can be written in the order that a sampler would give. */
class ShuffledRelayoutTest {
  private static final long SEED = 42;

  @TempDir
  Path directory;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 127, 128, 129, 300, 5_000})
  void theOrderOfAShuffledRelayoutIsThatOfTheSampler(int length) {
    ShuffleSampler sampler = Samplers.shuffle(length, SEED);
    long[] order = new long[length];
    sampler.indices(0, 0, order, 0, length);
    assertThat(ShuffledOrder.of(length, SEED)).isEqualTo(order);
    try (RecordDataset dataset = dataset(length)) {
      Arrangement arrangement = RecordOrder.shuffle(SEED).arrange(dataset);
      assertThat(arrangement.length()).isEqualTo(length);
      long[] old = new long[length];
      arrangement.oldIndices(0, old, length);
      assertThat(old).isEqualTo(order);
      long[] now = new long[length];
      arrangement.newIndices(0, now, length);
      for (int i = 0; i < length; i++) {
        assertThat(now[i]).isEqualTo(sampler.positionOf(0, i));
      }
      assertThatThrownBy(() -> arrangement.oldIndices(1, old, length))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> arrangement.newIndices(-1, now, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  private RecordDataset dataset(int length) {
    String table = directory.resolve("table").toString();
    RecordSchema schema =
        RecordSchema.builder().field("number", ElementType.of(Kind.I32)).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(table, schema, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < length; i++) {
        appender.set("number", i).endRecord();
      }
      writer.commit();
    }
    return RecordDataset.open(table);
  }
}
