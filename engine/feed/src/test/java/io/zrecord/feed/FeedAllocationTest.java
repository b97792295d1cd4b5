package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A feed that runs allocates for batches, and not for records. */
class FeedAllocationTest {
  private static final int RECORDS = 20_000;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @TempDir
  Path directory;

  @Test
  void aRecordCostsLessThanAByteOfTheHeap() {
    write();
    double best = Double.MAX_VALUE;
    try (RecordDataset dataset = RecordDataset.open(directory.resolve("data").toString());
        Feed feed = Feed.of(
                FeedGroup.of(dataset).sampler(Samplers.shuffle(RECORDS, 1), 1).batchSize(256))
            .stopBeforeEpoch(Long.MAX_VALUE)
            .start()) {
      long[] threads = threads();
      // The first rounds load classes and fill buffers.
      for (int round = 0; round < 50 && best >= 1; round++) {
        long before = allocatedBytes(threads);
        long records = 0;
        for (int i = 0; i < 4_000; i++) {
          FeedBatch batch = Objects.requireNonNull(feed.next());
          records += batch.count();
          batch.close();
        }
        best = Math.min(best, (allocatedBytes(threads) - before) / (double) records);
      }
    }
    assertThat(best).isLessThan(1);
  }

  private void write() {
    RecordSchema schema = RecordSchema.builder()
        .field("image", ElementType.U8, Shape.of(784), Compression.RAW)
        .field("label", ElementType.I32)
        .build();
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(
        directory.resolve("data").toString(), schema, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        appender.set("image", new byte[784]).set("label", i).endRecord();
      }
      writer.commit();
    }
  }

  /** Returns the loaders and this thread. */
  private static long[] threads() {
    long[] threads = Arrays.stream(THREADS.dumpAllThreads(false, false))
        .filter(thread -> thread.getThreadName().startsWith("zrecord-feed-")
            || thread.getThreadId() == Thread.currentThread().getId())
        .mapToLong(thread -> thread.getThreadId())
        .toArray();
    assertThat(threads).hasSizeGreaterThan(1);
    return threads;
  }

  private static long allocatedBytes(long[] threads) {
    return LongStream.of(THREADS.getThreadAllocatedBytes(threads)).sum();
  }
}
