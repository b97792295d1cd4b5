package io.zrecord.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.ZRecordException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.Budget;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The contract of storages on Google Cloud Storage, by Google's connector. */
@Tag("tier-4")
@EnabledIfSystemProperty(
    named = "zrecord.test.gcs",
    matches = ".+",
    disabledReason = "needs Google's connector and fake-gcs-server, which Go builds: -Pgcs")
final class GcsStorageTest extends StorageContractTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("text", ElementType.UTF8)
      .field("label", ElementType.I32)
      .build();

  private static final int RACERS = 16;

  @TempDir
  static Path directory;

  private static GcsServer server;

  @BeforeAll
  static void start() throws IOException {
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
  void itIsGooglesConnectorThatIsTested() throws IOException {
    assertThat(files().getClass().getName())
        .isEqualTo("com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem");
  }

  private static FileSystem files() throws IOException {
    return FileSystem.get(URI.create(server.bucket()), server.settings());
  }

  @Test
  void ofSixteenWhoPublishANameAtOnceOneWins() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(RACERS);
    try {
      for (int round = 0; round < 20; round++) {
        String name = "m/" + round;
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
  void whoIsInterruptedPublishesAllOrNothing() throws Exception {
    byte[] content = new byte[3_000_000];
    Arrays.fill(content, (byte) 7);
    storage.publish("m/first", new byte[1]);
    Random random = Budget.random();
    for (int round = 0; round < Math.max(20, Budget.of(60)); round++) {
      String name = "m/" + round;
      AtomicReference<Object> outcome = new AtomicReference<>();
      Thread publisher = new Thread(() -> {
        try {
          outcome.set(storage.publish(name, content));
        } catch (ZRecordException e) {
          outcome.set(e);
        }
      });
      publisher.start();
      if (round > 0) {
        awaitWaiting(publisher);
        for (int spins = random.nextInt(1 << random.nextInt(24)); spins > 0; spins--) {
          Thread.onSpinWait();
        }
      }
      publisher.interrupt();
      publisher.join();
      if (outcome.get().equals(true) || storage.exists(name)) {
        assertThat(storage.lengthBytes(name))
            .as("length of %s, of which the publisher says %s", name, outcome.get())
            .isEqualTo(content.length);
        assertThat(storage.read(name, content.length)).isEqualTo(content);
      }
    }
  }

  /** Waits until a thread waits for the answer to a request, or has ended. */
  private static void awaitWaiting(Thread thread) {
    while (thread.isAlive()
        && thread.getState() != Thread.State.WAITING
        && thread.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
  }

  /** The control of the test above. The thread is interrupted when it waits for the upload. */
  @Test
  void aPlainStreamOfTheConnectorLeavesAPartIfItsThreadIsInterrupted() throws Exception {
    byte[] content = new byte[7_000_000];
    for (int round = 0; round < 2_000; round++) {
      String name = "m/" + round;
      FSDataOutputStream stream =
          files().create(new org.apache.hadoop.fs.Path(storage.pathOf(name)), false);
      stream.write(content);
      Thread writer = new Thread(() -> {
        try {
          stream.close();
        } catch (IOException e) {
          // It was interrupted.
        }
      });
      writer.start();
      while (writer.isAlive() && writer.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
      writer.interrupt();
      writer.join();
      if (storage.exists(name) && storage.lengthBytes(name) < content.length) {
        return;
      }
    }
    fail("No interrupt left a part of a file");
  }

  @Test
  void aTableIsWrittenReadAndAppendedTo() {
    append(0, 1_000);
    assertThat(labels()).hasSize(1_000).isSorted().doesNotHaveDuplicates();
    append(1_000, 500);
    assertThat(labels()).hasSize(1_500).isSorted().doesNotHaveDuplicates();
    RecordTable table = RecordTable.at(storage);
    assertThat(table.latest().version()).isEqualTo(1);
    assertThat(table.latest().length()).isEqualTo(1_500);
  }

  private void append(int first, int count) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(storage, SCHEMA, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = first; i < first + count; i++) {
        records.set("text", "record " + i).set("label", i).endRecord();
      }
      writer.commit();
    }
  }

  private List<Integer> labels() {
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults())) {
      long[] indices = LongStream.range(0, dataset.length()).toArray();
      List<Integer> labels = new ArrayList<>();
      try (Batch batch = dataset.gather(indices, "text", "label")) {
        for (int i = 0; i < indices.length; i++) {
          int label = batch.value("label", i).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
          assertThat(batch.bytes("text", i)).asString(UTF_8).isEqualTo("record " + label);
          labels.add(label);
        }
      }
      return labels;
    }
  }
}
