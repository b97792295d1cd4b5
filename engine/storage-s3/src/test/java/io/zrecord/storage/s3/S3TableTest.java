package io.zrecord.storage.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.Storages;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.cache.CacheContent;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.CacheRoom;
import io.zrecord.testing.S3Server;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables in a bucket, written and read without Hadoop. */
final class S3TableTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("text", ElementType.UTF8)
      .field("label", ElementType.I32)
      .build();

  private static S3Server server;

  @BeforeAll
  static void start() throws IOException {
    server = S3Server.ofProcess(Path.of(System.getProperty("zrecord.test.s3proxy")));
    System.setProperty("aws.accessKeyId", server.accessKey());
    System.setProperty("aws.secretAccessKey", server.secretKey());
  }

  @AfterAll
  static void stop() {
    System.clearProperty("aws.accessKeyId");
    System.clearProperty("aws.secretAccessKey");
  }

  private static Storage storage(String name) {
    return Storages.at(
        "s3a://" + server.bucket() + "/" + name, Map.of("endpoint", server.endpoint()));
  }

  private static void append(Storage storage, int first, int count) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(storage, SCHEMA, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = first; i < first + count; i++) {
        records.set("text", "record " + i).set("label", i).endRecord();
      }
      writer.commit();
    }
  }

  private static List<Integer> labels(Storage storage) {
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults())) {
      long[] indices = new long[(int) dataset.length()];
      for (int i = 0; i < indices.length; i++) {
        indices[i] = i;
      }
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

  @Test
  void aTableIsWrittenReadAndKeptInOrder() {
    Storage storage = storage("first/über alles");
    append(storage, 0, 1_000);
    append(storage, 1_000, 500);
    List<Integer> labels = labels(storage("first/über alles"));
    assertThat(labels).hasSize(1_500).isSorted().doesNotHaveDuplicates();
    RecordTable table = RecordTable.at(storage);
    assertThat(table.latest().length()).isEqualTo(1_500);
    assertThat(table.latest().version()).isEqualTo(1);
  }

  @Test
  void nothingOfWritersThatRaceIsLost() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Void>> writers = new ArrayList<>();
      for (int writer = 0; writer < 4; writer++) {
        int first = writer * 100;
        writers.add(() -> {
          for (int commit = 0; commit < 5; commit++) {
            append(storage("race"), first + commit * 10, 10);
          }
          return null;
        });
      }
      for (Future<Void> writer : threads.invokeAll(writers)) {
        writer.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(labels(storage("race"))).hasSize(200).doesNotHaveDuplicates();
    assertThat(RecordTable.at(storage("race")).latest().version()).isEqualTo(19);
  }

  @Test
  void aTableIsReadThroughACacheOnTheLocalDisk(@TempDir Path cache) throws IOException {
    CacheRoom.assumeIn(cache);
    append(storage("cached"), 0, 100);
    Storage cached = Storages.at(
        "s3://" + server.bucket() + "/cached",
        Map.of("endpoint", server.endpoint(), "cache.directory", cache.toString()));
    assertThat(labels(cached)).hasSize(100).isEqualTo(labels(storage("cached")));
    long kept = CacheContent.of(cache).bytes();
    assertThat(kept)
        .as("bytes kept, with %s bytes of the disk free", cache.toFile().getUsableSpace())
        .isPositive();
    assertThat(labels(cached)).hasSize(100);
    assertThat(CacheContent.of(cache).bytes()).isEqualTo(kept);
  }
}
