package io.zrecord.benchmarks;

import com.sun.management.ThreadMXBean;
import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.feed.Feed;
import io.zrecord.feed.FeedBatch;
import io.zrecord.feed.FeedGroup;
import io.zrecord.feed.FeedStatistics;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/**
 * Measures a shuffled epoch through the feed, against gathers of the same batches by one thread:
 * images of 784 bytes and of 64 KiB with a label, 1 GiB each, batches of 256, in the page cache.
 * Figures are medians of five; contestants take turns. Argument: a work directory.
 */
public final class FeedBenchmark {
  private static final int REPEATS = Effort.rounds(5);
  private static final int BATCH = 256;
  private static final long TOTAL_BYTES = Effort.of(1L << 30);
  private static final int LEAST_RECORDS = 4 * BATCH;
  private static final long SEED = 1;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private FeedBenchmark() {}

  public static void main(String[] arguments) throws IOException {
    for (int width : new int[] {784, 1 << 16}) {
      Path path = Path.of(arguments[0]).resolve("feed-" + width);
      long records = Math.max(LEAST_RECORDS, TOTAL_BYTES / width);
      write(path, width, records);
      try (RecordDataset dataset = RecordDataset.open(path.toString())) {
        Sampler sampler = Samplers.shuffle(records, SEED);
        double[] fed = new double[REPEATS];
        double[] gathered = new double[REPEATS];
        for (int round = -Effort.warmUps(2); round < REPEATS; round++) {
          double feed = feed(dataset, sampler);
          double gather = gather(dataset, sampler, width);
          if (round >= 0) {
            fed[round] = feed;
            gathered[round] = gather;
          }
        }
        System.out.printf(
            Locale.ROOT,
            "Shuffled epoch of %d records of %d bytes: feed %.0f thousand records/s, gathers of one thread %.0f, ratio %.2f%n",
            records,
            width,
            records / Contest.median(fed) / 1e3,
            records / Contest.median(gathered) / 1e3,
            Contest.median(gathered) / Contest.median(fed));
        double gatherNanos = Contest.median(gathered) / records * BATCH * 1e9;
        slowConsumer(dataset, sampler, (long) (1.5 * gatherNanos));
        resume(dataset, sampler);
      }
      Workplace.delete(path);
    }
  }

  private static void write(Path path, int width, long records) throws IOException {
    Files.createDirectories(path.getParent());
    RecordSchema schema = RecordSchema.builder()
        .field("image", ElementType.U8, Shape.of(width), Compression.RAW)
        .field("label", ElementType.I32)
        .build();
    byte[] image = new byte[width];
    Random random = new Random(SEED);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), schema, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (long i = 0; i < records; i++) {
        random.nextBytes(image);
        appender.set("image", image).set("label", (int) i).endRecord();
      }
      writer.commit();
    }
  }

  private static double feed(RecordDataset dataset, Sampler sampler) {
    long start = System.nanoTime();
    long sum = 0;
    try (Feed feed =
        Feed.of(FeedGroup.of(dataset).sampler(sampler, SEED).batchSize(BATCH)).start()) {
      for (FeedBatch batch = feed.next(); batch != null; batch = feed.next()) {
        sum += batch.data("label").getInt(0);
        batch.close();
      }
    }
    return seconds(start, sum);
  }

  /**
   * Measures the waits of a trainer that takes longer than a gather, without using the processor.
   */
  private static void slowConsumer(RecordDataset dataset, Sampler sampler, long stepNanos) {
    int steps = Effort.of(2_000);
    try (Feed feed = Feed.of(FeedGroup.of(dataset).sampler(sampler, SEED).batchSize(BATCH))
        .stopBeforeEpoch(Long.MAX_VALUE)
        .start()) {
      FeedBatch first = Objects.requireNonNull(feed.next());
      first.close();
      LockSupport.parkNanos(50_000_000);
      long idleBefore = feed.statistics().idleNanos();
      long[] threads = feedThreads();
      long allocatedBefore = allocatedBytes(threads);
      for (int i = 0; i < steps; i++) {
        Objects.requireNonNull(feed.next()).close();
        LockSupport.parkNanos(stepNanos);
      }
      FeedStatistics statistics = feed.statistics();
      System.out.printf(
          Locale.ROOT,
          "  consumer that takes %.2f ms a batch, 1.5 times a gather: waited %.4f ms a batch, %.1f %% were ready;"
              + " %.2f bytes of the heap a record%n",
          stepNanos / 1e6,
          (statistics.idleNanos() - idleBefore) / 1e6 / steps,
          100 * statistics.readyRatio(),
          (allocatedBytes(threads) - allocatedBefore) / (double) BATCH / steps);
    }
  }

  private static long[] feedThreads() {
    return Arrays.stream(THREADS.dumpAllThreads(false, false))
        .filter(thread -> thread.getThreadName().startsWith("zrecord-feed-")
            || thread.getThreadId() == Thread.currentThread().getId())
        .mapToLong(thread -> thread.getThreadId())
        .toArray();
  }

  private static long allocatedBytes(long[] threads) {
    return LongStream.of(THREADS.getThreadAllocatedBytes(threads)).sum();
  }

  /** Measures the time from a state to the first batch, against the beginning of an epoch. */
  private static void resume(RecordDataset dataset, Sampler sampler) {
    double[] fresh = new double[Effort.rounds(51)];
    double[] resumed = new double[fresh.length];
    Random random = new Random(SEED);
    for (int i = 0; i < fresh.length; i++) {
      fresh[i] = millisToFirstBatch(dataset, sampler, 0);
      resumed[i] =
          millisToFirstBatch(dataset, sampler, random.nextInt((int) sampler.length() - BATCH));
    }
    System.out.printf(
        Locale.ROOT,
        "  to the first batch: %.2f ms at the beginning of an epoch, %.2f ms resumed anywhere in it%n",
        Contest.median(fresh),
        Contest.median(resumed));
  }

  private static double millisToFirstBatch(RecordDataset dataset, Sampler sampler, long position) {
    long start = System.nanoTime();
    try (Feed feed = Feed.of(FeedGroup.of(dataset).sampler(sampler, SEED).batchSize(BATCH))
        .startAtPosition(7, position)
        .stopBeforeEpoch(8)
        .start()) {
      Objects.requireNonNull(feed.next()).close();
      return (System.nanoTime() - start) / 1e6;
    }
  }

  private static double gather(RecordDataset dataset, Sampler sampler, int width) {
    ByteBuffer images = ByteBuffer.allocateDirect(BATCH * width);
    ByteBuffer labels = ByteBuffer.allocateDirect(BATCH * Integer.BYTES);
    long start = System.nanoTime();
    long sum = 0;
    for (long position = 0; position < sampler.length(); position += BATCH) {
      long[] indices = new long[(int) Math.min(BATCH, sampler.length() - position)];
      sampler.indices(0, position, indices, 0, indices.length);
      try (Batch batch = dataset.gather(indices, "image", "label")) {
        batch.copyAll("image", images.clear());
        batch.copyAll("label", labels.clear());
      }
      sum += labels.getInt(0);
    }
    return seconds(start, sum);
  }

  /** Returns the seconds since the start. Uses the sum, so that nothing is optimized away. */
  private static double seconds(long start, long sum) {
    return (System.nanoTime() - start) / 1e9 + (sum == Long.MIN_VALUE ? 1 : 0);
  }
}
