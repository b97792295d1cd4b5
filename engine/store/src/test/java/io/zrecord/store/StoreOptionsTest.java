package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.read.Verification;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.DirectoryInMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The settings of a store: defaults, ranges, and those that no other test varies. */
class StoreOptionsTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("number", ElementType.I64).build();
  private static final int RECORDS = 4_000;
  private static final int THREADS = 4;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @Test
  void theDefaultsAreThoseThatAreDocumented() {
    assertThat(StoreOptions.defaults())
        .isEqualTo(new StoreOptions(
            StoreDurability.COMMIT,
            67_108_864,
            268_435_456,
            2,
            67_108_864,
            8,
            Duration.ofMinutes(1),
            Verification.FIRST));
  }

  @Test
  void valuesOutOfRangeAreRefusedWithTheRange() {
    requireRefused(options -> options.withWriters(0), "writers is 0; it must be from 1 to 4");
    requireRefused(options -> options.withWriters(5), "writers is 5; it must be from 1 to 4");
    requireRefused(options -> options.withReaders(-1), "readers is -1; it must be from 0 to 64");
    requireRefused(options -> options.withReaders(65), "readers is 65; it must be from 0 to 64");
    requireRefused(options -> options.withChunkRecords(0), "chunkRecords is 0");
    requireRefused(options -> options.withChunkBytes(4_095), "from 4096 to 1099511627776");
    requireRefused(options -> options.withChunkBytes((1L << 40) + 1), "from 4096 to");
    requireRefused(options -> options.withCheckpointBytes(4_095), "checkpointBytes is 4095");
    assertThat(StoreOptions.defaults().withWriters(4).withReaders(64).withChunkBytes(1L << 40))
        .isNotNull();
  }

  private static void requireRefused(UnaryOperator<StoreOptions> change, String message) {
    assertThatThrownBy(() -> change.apply(StoreOptions.defaults()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 4})
  void asManyChunksAreWrittenSideBySideAsThereAreWriters(int writers) throws Exception {
    Path path = directory.resolve("store");
    StoreOptions options =
        StoreOptions.defaults().withDurability(StoreDurability.NONE).withWriters(writers);
    try (RecordStore store = RecordStore.create(path, SCHEMA, options)) {
      appendFromThreads(store);
      store.commit();
      requireEachOnce(store);
      assertThat(chunkFiles(path)).isBetween(1L, (long) writers);
    }
    try (RecordStore store = RecordStore.open(path, options)) {
      requireEachOnce(store);
    }
  }

  private static void appendFromThreads(RecordStore store) throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    for (int t = 0; t < THREADS; t++) {
      int first = t;
      pool.execute(() -> {
        for (long i = first; i < RECORDS; i += THREADS) {
          store.append(store.newValues().set("number", i));
        }
      });
    }
    pool.shutdown();
    assertThat(pool.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
  }

  private static void requireEachOnce(RecordStore store) {
    assertThat(store.length()).isEqualTo(RECORDS);
    boolean[] seen = new boolean[RECORDS];
    long[] indices = new long[RECORDS];
    for (int i = 0; i < RECORDS; i++) {
      indices[i] = i;
    }
    ByteBuffer numbers = ByteBuffer.allocate(RECORDS * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    try (Batch batch = store.gather(indices)) {
      batch.copyAll("number", numbers);
    }
    for (int i = 0; i < RECORDS; i++) {
      int number = (int) numbers.getLong(i * Long.BYTES);
      assertThat(seen[number]).isFalse();
      seen[number] = true;
    }
  }

  private static long chunkFiles(Path store) throws IOException {
    try (Stream<Path> chunks = Files.list(store.resolve("chunk"))) {
      return chunks.count();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 64})
  void gathersGiveTheSameWhateverTheReaders(int readers) {
    StoreOptions options =
        StoreOptions.defaults().withDurability(StoreDurability.NONE).withReaders(readers);
    try (RecordStore store = RecordStore.create(directory.resolve("read"), SCHEMA, options)) {
      for (long i = 0; i < RECORDS; i++) {
        store.append(store.newValues().set("number", i));
      }
      store.commit();
      requireEachOnce(store);
    }
  }

  /** 64 MiB of entries, of 20 bytes a value, are fewer records than 131,072 beyond 25 fields. */
  @ParameterizedTest
  @CsvSource({"1, 131072", "25, 131072", "26, 129055", "100, 33554"})
  void aLargeGroupIsCommittedByItself(int fields, int records) {
    RecordSchema.Builder schema = RecordSchema.builder();
    for (int i = 0; i < fields; i++) {
      schema.field("f" + i, ElementType.U8);
    }
    StoreOptions options = StoreOptions.defaults().withDurability(StoreDurability.NONE);
    try (RecordStore store =
        RecordStore.create(directory.resolve("groups"), schema.build(), options)) {
      RecordValues nothing = store.newValues();
      for (int i = 0; i < records - 1; i++) {
        store.append(nothing);
      }
      assertThat(store.length()).isZero();
      assertThat(store.pendingLength()).isEqualTo(records - 1);
      store.append(nothing);
      assertThat(store.length()).isEqualTo(records);
      for (int i = 0; i < records - 1; i++) {
        store.append(nothing);
      }
      assertThat(store.length()).as("the next group is as large").isEqualTo(records);
    }
  }
}
