package io.zrecord.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The contract of storages by Google's connector for Hadoop, on fake-gcs-server. */
@EnabledIfSystemProperty(
    named = "zrecord.test.gcs",
    matches = ".+",
    disabledReason = "run with -Pgcs, which needs Go")
final class GcsStorageTest extends StorageContractTest {
  private static final int RACERS = 16;

  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.BYTES).build();

  @TempDir
  static Path directory;

  private static GcsServer server;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    server = new GcsServer(Path.of(System.getProperty("zrecord.test.gcs")), directory);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected Storage emptyStorage() {
    return HadoopStorage.at(server.bucket() + "/data of " + UUID.randomUUID(), server.settings());
  }

  @Test
  void ofSixteenPublishersExactlyOneWins() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(RACERS);
    try {
      for (int round = 0; round < 20; round++) {
        String name = "race/" + round;
        CyclicBarrier start = new CyclicBarrier(RACERS);
        List<Callable<Boolean>> racers = new ArrayList<>();
        for (int racer = 0; racer < RACERS; racer++) {
          byte[] content = ("racer " + racer).getBytes(UTF_8);
          racers.add(() -> {
            start.await();
            return storage.publish(name, content);
          });
        }
        List<Integer> winners = new ArrayList<>();
        List<Future<Boolean>> outcomes = threads.invokeAll(racers);
        for (int racer = 0; racer < RACERS; racer++) {
          if (outcomes.get(racer).get()) {
            winners.add(racer);
          }
        }
        assertThat(winners).as("winners of round %s", round).hasSize(1);
        assertThat(storage.read(name, 100)).asString().isEqualTo("racer " + winners.get(0));
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aTableIsWrittenReadAndAppendedTo() {
    append(0, 1000);
    TableSnapshot first = RecordTable.at(storage).latest();
    assertRecords(first, 1000);
    append(1000, 500);
    assertRecords(RecordTable.at(storage).latest(), 1500);
    assertRecords(first, 1000);
  }

  private void append(int first, int count) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(storage, SCHEMA, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = first; i < first + count; i++) {
        records.set("value", value(i)).endRecord();
      }
      writer.commit();
    }
  }

  private void assertRecords(TableSnapshot version, int count) {
    try (RecordDataset dataset = RecordDataset.open(version, ReadOptions.defaults())) {
      assertThat(dataset.length()).isEqualTo(count);
      var reader = dataset.reader("value");
      for (long i = 0; i < count; i++) {
        reader.select(new long[] {i}, 0, 1);
        assertThat(reader.value(0)).isEqualTo(value((int) i));
      }
    }
  }

  private static byte[] value(int i) {
    return ("value " + i).repeat(i % 7).getBytes(UTF_8);
  }
}
