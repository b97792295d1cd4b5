package io.zrecord.internal.shard.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.shard.ChangedField;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardUse;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Changed values that are put side by side are those that are read one by one. */
final class SideBySideTest {
  private static final int RECORDS = 10_000;
  private static final String FIELD = "value";

  private final long seed = Budget.seed();
  private final Random random = Budget.random();
  private final @Nullable Integer[] expected = new Integer[RECORDS];

  @TempDir
  Path directory;

  private TableSnapshot table;

  @BeforeEach
  void change() {
    RecordSchema schema = RecordSchema.builder().field(FIELD, ElementType.I32).build();
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(directory.toString(), schema, options)) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        expected[i] = i;
        appender.set(FIELD, i).endRecord();
      }
      table = writer.commit();
    }
    RowChange change = RowChange.of(table);
    for (int i = 0; i < RECORDS / 20; i++) {
      int at = random.nextInt(RECORDS);
      expected[at] = i % 9 == 0 ? null : -i;
      change.update(at, FIELD, expected[at]);
    }
    table = change.commit();
  }

  private RecordDataset open(Verification verification) {
    return RecordDataset.open(table, new ReadOptions(verification, new ReadMetrics()));
  }

  /** Returns the changed values as readers share them. */
  private ChangedField changed() {
    try (ShardUse use = OpenShards.shared().use()) {
      OpenShard shard = use.get(table.storage(), table.shards().get(0));
      return Objects.requireNonNull(
          Objects.requireNonNull(shard.patch()).changed(table.schema().fields().get(0)));
    }
  }

  private void requireExpected(FieldReader reader, long[] indices) {
    reader.select(indices, 0, indices.length);
    ByteBuffer values = ByteBuffer.allocate(indices.length * Integer.BYTES);
    reader.copyAll(values);
    for (int i = 0; i < indices.length; i++) {
      requireExpected(reader, i, values, expected[(int) indices[i]]);
    }
  }

  private void requireAllInRanges(FieldReader reader) {
    for (int next = 0; next < RECORDS; ) {
      int count = reader.selectRange(next, Math.min(3000, RECORDS - next), 1 << 20);
      ByteBuffer values = ByteBuffer.allocate(count * Integer.BYTES);
      reader.copyAll(values);
      for (int i = 0; i < count; i++) {
        requireExpected(reader, i, values, expected[next + i]);
      }
      next += count;
    }
  }

  private void requireExpected(
      FieldReader reader, int i, ByteBuffer values, @Nullable Integer wanted) {
    int value = values.order(ByteOrder.LITTLE_ENDIAN).getInt(i * Integer.BYTES);
    assertThat(reader.isAbsent(i)).as("absence, seed %d", seed).isEqualTo(wanted == null);
    assertThat(value).as("value, seed %d", seed).isEqualTo(wanted == null ? 0 : wanted);
  }

  private static long[] all() {
    return LongStream.range(0, RECORDS).toArray();
  }

  @ParameterizedTest
  @EnumSource(Verification.class)
  void valuesAreThoseThatWereWritten(Verification verification) {
    try (RecordDataset dataset = open(verification)) {
      FieldReader reader = dataset.reader(FIELD);
      requireExpected(reader, new long[] {changed().slots().slotOf(0)});
      assertThat(changed().sideBySide()).as("one value is too few").isNull();
      for (int round = 0; round < 3; round++) {
        requireExpected(reader, random.longs(2000, 0, RECORDS).toArray());
        requireAllInRanges(reader);
      }
    }
    assertThat(changed().sideBySide() != null).isEqualTo(verification != Verification.ALWAYS);
  }

  @Test
  void threadsReadTheSame() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    try (RecordDataset dataset = open(Verification.FIRST)) {
      Callable<Boolean> reading = () -> {
        FieldReader reader = dataset.reader(FIELD);
        requireAllInRanges(reader);
        requireExpected(reader, all());
        return true;
      };
      for (Future<Boolean> done : pool.invokeAll(List.of(reading, reading, reading, reading))) {
        assertThat(done.get()).isTrue();
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void aDamagedValueIsRefusedAndTheOthersAreRead() throws IOException {
    long damaged = damage();
    long[] others = LongStream.of(all()).filter(i -> i != damaged).toArray();
    try (RecordDataset dataset = open(Verification.FIRST)) {
      FieldReader reader = dataset.reader(FIELD);
      ChangedField opened = changed();
      requireExpected(reader, others);
      requireExpected(reader, others);
      assertThat(changed()).as("not opened again: nobody met the damage").isSameAs(opened);
      assertThatThrownBy(() -> requireExpected(reader, new long[] {damaged}))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("the value at " + damaged);
      assertThatThrownBy(() -> requireAllInRanges(reader)).isInstanceOf(CorruptDataException.class);
    }
  }

  @Test
  void aReaderThatVerifiesDoesNotTakeUnverifiedValues() throws IOException {
    damage();
    try (RecordDataset careless = open(Verification.NEVER);
        RecordDataset careful = open(Verification.FIRST)) {
      careless.reader(FIELD).select(all(), 0, RECORDS);
      assertThat(Objects.requireNonNull(changed().sideBySide()).isVerified()).isFalse();
      assertThatThrownBy(() -> requireAllInRanges(careful.reader(FIELD)))
          .isInstanceOf(CorruptDataException.class);
    }
  }

  /** Flips a bit of a changed value in its chunk, and returns the index of the record. */
  private long damage() throws IOException {
    ChangedField field = changed();
    int rank = 100;
    while (field.isAbsent(rank)) {
      rank++;
    }
    long word0 = field.values().word0(rank);
    int chunk = field.values().chunkOf(rank, word0, field.values().word1(rank));
    ShardSummary shard = table.shards().get(0);
    Path file = directory
        .resolve(shard.directory())
        .resolve(shard.chunks().get(field.values().shardChunk(chunk)).fileName());
    byte[] bytes = Files.readAllBytes(file);
    bytes[(int) word0] ^= 1;
    Files.write(file, bytes);
    long slot = field.slots().slotOf(rank);
    OpenShards.shared().clear();
    return slot;
  }
}
