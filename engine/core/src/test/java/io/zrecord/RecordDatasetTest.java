package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.BatchReleasedException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.io.IOException;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RecordDatasetTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("never text", ElementType.UTF8)
      .field("never number", ElementType.I32)
      .field("text", ElementType.UTF8)
      .build();

  @TempDir
  Path directory;

  @Test
  void whatIsNoDatasetIsNamedWithARemedy() throws IOException {
    assertRefused(directory.resolve("missing"), "no such directory");
    assertRefused(directory, "empty");
    assertRefused(Files.writeString(directory.resolve("x.parquet"), "PAR1"), "it is a file");
    assertRefused(directory, "Parquet files");
    Path partitioned = Files.createDirectories(directory.resolve("p/year=2026/month=1"));
    Files.createFile(partitioned.resolve("part-0.snappy.orc"));
    assertRefused(directory.resolve("p"), "ORC files");
    Files.createDirectories(directory.resolve("d/_delta_log"));
    assertRefused(directory.resolve("d"), "Delta");
    Files.createDirectories(directory.resolve("s/shard"));
    assertRefused(directory.resolve("s"), "not been committed");
    Files.createDirectories(directory.resolve("c/chunk"));
    assertRefused(directory.resolve("c"), "a store whose meta file was lost");
    Files.createDirectories(directory.resolve("t"));
    Files.createFile(directory.resolve("t/0c9e5b1e.tables"));
    assertRefused(directory.resolve("t"), "Open the table");
    Files.createDirectories(directory.resolve("o/other"));
    assertRefused(directory.resolve("o"), "neither");
  }

  private static void assertRefused(Path path, String reason) {
    assertThatThrownBy(() -> RecordDataset.open(path.toString()))
        .isInstanceOf(NotADatasetException.class)
        .hasMessageContaining(path.toString())
        .hasMessageContaining(reason);
  }

  @Test
  void callersMistakesAreTheJdksExceptions() {
    RecordDataset dataset = write(20);
    assertThatThrownBy(() -> dataset.reader("nope"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("never text, never number, text");
    FieldReader reader = dataset.reader("never text");
    for (long index : new long[] {-1, 20, Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> reader.select(new long[] {3, index}, 0, 2))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageContaining(String.valueOf(index))
          .hasMessageContaining("0 to 19");
      assertThat(reader.count()).isZero();
      assertThatThrownBy(() -> reader.selectRange(index, 1, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> dataset.gather(new long[] {index}))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThatThrownBy(() -> reader.selectRange(19, 2, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> reader.selectRange(0, 0, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> reader.select(new long[2], 1, 2))
        .isInstanceOf(IndexOutOfBoundsException.class);
    for (String field : new String[] {"never text", "never number", "text"}) {
      FieldReader any = dataset.reader(field);
      any.selectRange(0, 20, 1 << 20);
      int total = (int) any.totalLengthBytes();
      assertThatThrownBy(() -> any.copyAll(new byte[total], 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> any.copyAll(ByteBuffer.allocate(total - 1)))
          .isInstanceOf(BufferOverflowException.class);
      assertThatThrownBy(() -> any.isAbsent(20)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> any.value(-1)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> any.view(20)).isInstanceOf(IndexOutOfBoundsException.class);
    }
    dataset.close();
    assertThatThrownBy(() -> dataset.reader("text")).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aReleasedBatchRefusesUse() {
    RecordDataset dataset = write(20);
    Batch batch = dataset.gather(new long[] {5, 5, 0}, "never number");
    assertThat(batch.count()).isEqualTo(3);
    assertThat(batch.fields()).containsExactly("never number");
    ByteBuffer value = batch.value("never number", 0);
    int before = value.getInt(0);
    assertThatThrownBy(() -> batch.value("text", 0)).isInstanceOf(IllegalArgumentException.class);
    batch.close();
    batch.close();
    assertThatThrownBy(() -> batch.value("never number", 0))
        .isInstanceOf(BatchReleasedException.class)
        .hasMessageContaining(Thread.currentThread().getName());
    assertThatThrownBy(batch::count).isInstanceOf(BatchReleasedException.class);
    assertThatThrownBy(() -> batch.isAbsent("never number", 0))
        .isInstanceOf(BatchReleasedException.class);
    assertThat(value.getInt(0)).isEqualTo(before);
  }

  @Test
  void anAbsentValueIsNoValue() {
    RecordDataset dataset = write(200);
    long[] indices = java.util.stream.LongStream.range(0, 200).toArray();
    try (Batch batch = dataset.gather(indices)) {
      int absent = java.util.stream.IntStream.range(0, 200)
          .filter(i -> batch.isAbsent("text", i))
          .findFirst()
          .orElseThrow();
      assertThatThrownBy(() -> batch.value("text", absent))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> batch.bytes("text", absent))
          .isInstanceOf(IllegalStateException.class);
    }
    try (Batch empty = dataset.gather(new long[0])) {
      assertThat(empty.count()).isZero();
    }
  }

  private RecordDataset write(int count) {
    SampleData data = SampleData.random(SCHEMA, count, 7);
    Storage storage = LocalStorage.at(directory);
    ShardSummary shard =
        data.write(storage, WriteOptions.defaults().withDurability(Durability.NONE), 0, count);
    return RecordDataset.openShard(storage, SCHEMA, shard, RecordDataset.ReadOptions.defaults());
  }
}
