package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.BatchReleasedException;
import io.zrecord.errors.BatchTimeoutException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.SamplerState;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a feed delivers, in which order, and how it goes on after it was stopped anywhere. */
class FeedTest {
  private static final int RECORDS = 1_003;
  private static final long SEED = 5;
  private static final int RESUMES = Integer.getInteger("zrecord.test.resumes", 100);
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("image", ElementType.U8, Shape.of(4, 3), Compression.RAW)
      .field("label", ElementType.I64)
      .field("text", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.ZSTD))
      .build();

  @TempDir
  Path directory;

  private Path path;

  @BeforeEach
  void write() {
    path = directory.resolve("data");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path, SCHEMA, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      byte[] image = new byte[12];
      for (int i = 0; i < RECORDS; i++) {
        image[0] = (byte) i;
        image[11] = (byte) (i >> 8);
        records.set("image", image).set("label", (long) i);
        if (i % 7 != 0) {
          records.set("text", "record " + "x".repeat(i % 50) + i);
        }
        records.endRecord();
      }
      writer.commit();
    }
  }

  private static Sampler shuffle() {
    return Samplers.shuffle(RECORDS, SEED);
  }

  @Test
  void everyRecordIsDeliveredOnceAnEpochInTheOrderOfTheSampler() {
    try (RecordDataset dataset = RecordDataset.open(path)) {
      for (int threads = 1; threads <= 8; threads *= 2) {
        try (Feed feed = Feed.of(dataset)
            .sampler(shuffle(), SEED)
            .batchSize(64)
            .loaderThreads(threads)
            .depth(1 + threads)
            .stopBeforeEpoch(3)
            .start()) {
          assertThat(feed.batchesPerEpoch()).isEqualTo(16);
          List<Long> found = labels(feed, Integer.MAX_VALUE);
          assertThat(found).isEqualTo(expected(shuffle(), 0, 0, 3));
          assertThat(feed.statistics().records()).isEqualTo(3L * RECORDS);
          assertThat(feed.next()).isNull();
        }
      }
    }
  }

  /** Labels in the order delivered; every batch is checked in all fields. */
  private static List<Long> labels(Feed feed, int batches) {
    List<Long> labels = new ArrayList<>();
    for (int done = 0; done < batches; done++) {
      try (FeedBatch batch = feed.next()) {
        if (batch == null) {
          break;
        }
        ByteBuffer all = batch.data("label");
        long[] indices = batch.indices();
        for (int i = 0; i < batch.count(); i++) {
          long label = all.getLong(8 * i);
          assertThat(label).isEqualTo(indices[i]);
          assertThat(batch.value("image", i).get(0)).isEqualTo((byte) label);
          assertThat(batch.value("image", i).get(11)).isEqualTo((byte) (label >> 8));
          ByteBuffer text = batch.value("text", i);
          assertThat(batch.isAbsent("text", i)).isEqualTo(label % 7 == 0);
          String expected = label % 7 == 0 ? "" : "record " + "x".repeat((int) label % 50) + label;
          assertThat(StandardCharsets.UTF_8.decode(text).toString()).isEqualTo(expected);
          labels.add(label);
        }
      }
    }
    return labels;
  }

  private static List<Long> expected(Sampler sampler, long epoch, long position, long endEpoch) {
    List<Long> labels = new ArrayList<>();
    long from = position;
    for (long e = epoch; e < endEpoch; e++) {
      for (long p = from; p < sampler.length(); p++) {
        labels.add(sampler.index(e, p));
      }
      from = 0;
    }
    return labels;
  }

  @Test
  void aFeedGoesOnWhereItWasStoppedWhateverItsThreadsAndDepth() {
    Random random = new Random(11);
    try (RecordDataset dataset = RecordDataset.open(path)) {
      for (int run = 0; run < RESUMES; run++) {
        int world = 1 + random.nextInt(8);
        Sampler sampler = shuffle().share(random.nextInt(world), world, Remainder.UNEVEN);
        int batchSize = 1 + random.nextInt(100);
        List<Long> found = new ArrayList<>();
        SamplerState state = null;
        while (state == null || state.epoch() < 2) {
          FeedBuilder builder = Feed.of(dataset)
              .fields("label")
              .sampler(sampler, SEED)
              .batchSize(batchSize)
              .loaderThreads(1 + random.nextInt(16))
              .depth(2 + random.nextInt(7))
              .stopBeforeEpoch(2);
          if (state != null) {
            builder.resume(SamplerState.fromJson(state.toJson()));
          }
          try (Feed feed = builder.start()) {
            int batches = 1 + random.nextInt(30);
            for (int i = 0; i < batches; i++) {
              try (FeedBatch batch = feed.next()) {
                if (batch == null) {
                  break;
                }
                for (long index : batch.indices()) {
                  found.add(index);
                }
                state = batch.next();
              }
            }
          }
        }
        assertThat(found).as("run %d", run).isEqualTo(expected(sampler, 0, 0, 2));
      }
    }
  }

  @Test
  void aRemainderIsDroppedIfWanted() {
    try (RecordDataset dataset = RecordDataset.open(path);
        Feed feed = Feed.of(dataset)
            .sampler(shuffle(), SEED)
            .batchSize(100)
            .keepRemainder(false)
            .stopBeforeEpoch(2)
            .start()) {
      assertThat(feed.batchesPerEpoch()).isEqualTo(10);
      List<Long> found = labels(feed, 11);
      assertThat(found.subList(0, 1_000)).isEqualTo(expected(shuffle(), 0, 0, 1).subList(0, 1_000));
      assertThat(found.get(1_000)).isEqualTo(shuffle().index(1, 0));
    }
  }

  @Test
  void aBatchThatWasClosedIsRefusedAndOneThatIsHeldStays() {
    try (RecordDataset dataset = RecordDataset.open(path);
        Feed feed =
            Feed.of(dataset).sampler(shuffle(), SEED).batchSize(10).depth(2).start()) {
      FeedBatch held = feed.next();
      long first = held.data("label").getLong(0);
      for (int i = 0; i < 20; i++) {
        feed.next().close();
      }
      assertThat(held.data("label").getLong(0)).isEqualTo(first);
      held.close();
      held.close();
      assertThatThrownBy(() -> held.data("label"))
          .isInstanceOf(BatchReleasedException.class)
          .hasMessageContaining("epoch 0");
    }
  }

  @Test
  void aConsumerThatHoldsAllBatchesIsToldSo() {
    try (RecordDataset dataset = RecordDataset.open(path);
        Feed feed = Feed.of(dataset)
            .sampler(shuffle(), SEED)
            .batchSize(10)
            .depth(2)
            .timeout(Duration.ofMillis(200))
            .start()) {
      FeedBatch one = feed.next();
      FeedBatch two = feed.next();
      assertThatThrownBy(feed::next)
          .isInstanceOf(BatchTimeoutException.class)
          .hasMessageContaining("2 of 2 batches")
          .hasMessageContaining("loader 0 waits for room");
      one.close();
      feed.next().close();
      two.close();
    }
  }

  @Test
  void damageIsReportedWithItsBatchAndNotBefore() throws IOException {
    Path chunk;
    try (Stream<Path> files = Files.walk(path)) {
      chunk = files.filter(file -> file.toString().endsWith(".zr")).findFirst().orElseThrow();
    }
    byte[] content = Files.readAllBytes(chunk);
    content[content.length - 40] ^= 1;
    Files.write(chunk, content);
    try (RecordDataset dataset = RecordDataset.open(path);
        Feed feed = Feed.of(dataset)
            .sampler(Samplers.sequential(0, RECORDS, 1), SEED)
            .batchSize(10)
            .start()) {
      int good = 0;
      Throwable thrown = null;
      while (thrown == null) {
        try (FeedBatch batch = feed.next()) {
          assertThat(batch).isNotNull();
          good++;
        } catch (CorruptDataException e) {
          thrown = e;
        }
      }
      assertThat(good).isBetween(1, 100);
      assertThatThrownBy(feed::next).isSameAs(thrown);
    }
  }

  @Test
  void hooksRunOnceForEachLoaderAndAnInterruptEndsTheFlow() {
    AtomicInteger hooks = new AtomicInteger();
    try (RecordDataset dataset = RecordDataset.open(path);
        Feed feed = Feed.of(dataset)
            .sampler(shuffle(), SEED)
            .batchSize(10)
            .loaderThreads(3)
            .stopBeforeEpoch(Long.MAX_VALUE)
            .onLoaderStart(hooks::incrementAndGet)
            .start()) {
      feed.next().close();
      feed.interrupt();
      int rest = labels(feed, Integer.MAX_VALUE).size();
      assertThat(rest).isLessThanOrEqualTo(4 * 10);
      assertThat(hooks.get()).isEqualTo(3);
    }
  }

  @Test
  void wrongSettingsSayWhatIsAllowed() {
    try (RecordDataset dataset = RecordDataset.open(path)) {
      assertThatThrownBy(() -> Feed.of(dataset).batchSize(0)).hasMessageContaining("from 1 to");
      assertThatThrownBy(() -> Feed.of(dataset).depth(1)).hasMessageContaining("from 2 to");
      assertThatThrownBy(() -> Feed.of(dataset).fields("nope")).hasMessageContaining("label");
      assertThatThrownBy(() -> Feed.of(dataset).sampler(Samplers.shuffle(RECORDS + 1, 1), 1))
          .hasMessageContaining("" + RECORDS);
      assertThatThrownBy(() -> Feed.of(dataset)
              .sampler(shuffle(), SEED)
              .resume(SamplerState.start(dataset.version(), SEED + 1))
              .start())
          .hasMessageContaining("seed");
    }
  }
}
