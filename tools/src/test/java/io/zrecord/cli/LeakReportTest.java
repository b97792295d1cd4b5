package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.BatchReleasedException;
import io.zrecord.errors.BatchTimeoutException;
import io.zrecord.feed.Feed;
import io.zrecord.feed.FeedBatch;
import io.zrecord.feed.FeedGroup;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.JavaProcess;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code zrecord.traceBatches} tells of batches that were not closed. */
class LeakReportTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("number", ElementType.I64).build();
  private static final int RECORDS = 100;
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir
  Path directory;

  /**
   * Loses a batch, reads one after its end, and holds all batches of a feed; says what it was told.
   */
  static final class Careless {
    private Careless() {}

    public static void main(String[] arguments) throws InterruptedException {
      PrintStream console = System.err;
      ByteArrayOutputStream log = new ByteArrayOutputStream();
      System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
      try (RecordDataset dataset = RecordDataset.open(arguments[0])) {
        loseABatch(dataset);
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!log.toString(StandardCharsets.UTF_8).contains("loseABatch")
            && arguments[1].equals("wait")
            && System.nanoTime() < end) {
          System.gc();
        }
        readABatchLate(dataset);
        holdAllBatches(dataset);
      }
      System.setErr(console);
      System.out.println("log: " + log.toString(StandardCharsets.UTF_8));
    }

    private static void loseABatch(RecordDataset dataset) {
      dataset.gather(new long[] {7, 8});
    }

    private static void readABatchLate(RecordDataset dataset) {
      Batch batch = dataset.gather(new long[] {1});
      releaseEarly(batch);
      try {
        batch.count();
      } catch (BatchReleasedException e) {
        e.printStackTrace(System.out);
      }
    }

    private static void releaseEarly(Batch batch) {
      batch.close();
    }

    private static void holdAllBatches(RecordDataset dataset) throws InterruptedException {
      List<FeedBatch> held = new ArrayList<>();
      CountDownLatch two = new CountDownLatch(2);
      AtomicReference<Thread> loader = new AtomicReference<>();
      try (Feed feed = Feed.of(FeedGroup.of(dataset).batchSize(10))
          .loaderThreads(1)
          .depth(2)
          .timeout(Duration.ofMillis(200))
          .onLoaderStart(() -> loader.set(Thread.currentThread()))
          .sink(() -> batch -> {
            two.countDown();
            return null;
          })
          .start()) {
        two.await();
        while (loader.get().getState() != Thread.State.WAITING) {
          Thread.onSpinWait();
        }
        takeWithoutClosing(feed, held);
        takeWithoutClosing(feed, held);
        takeWithoutClosing(feed, held);
      } catch (BatchTimeoutException e) {
        System.out.println(e.getMessage());
      }
      held.forEach(FeedBatch::close);
    }

    private static void takeWithoutClosing(Feed feed, List<FeedBatch> held) {
      FeedBatch batch = feed.next();
      if (batch != null) {
        held.add(batch);
      }
    }
  }

  private String outputOf(String traces, String waiting) throws Exception {
    Path path = directory.resolve("data");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), SCHEMA, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (long i = 0; i < RECORDS; i++) {
        appender.set("number", i).endRecord();
      }
      writer.commit();
    }
    JavaProcess.Result result = JavaProcess.of(Careless.class)
        .small()
        .option("-Dzrecord.traceBatches=" + traces)
        .run(path.toString(), waiting);
    assertThat(result.exitCode()).as(result.output()).isZero();
    return result.output();
  }

  @Test
  void theStacksAreThoseOfWhoTookAndWhoReleased() throws Exception {
    String output = outputOf("true", "wait");
    assertThat(output)
        .contains("A batch of 2 records of ", "was never closed", "taken here")
        .containsPattern("at io\\.zrecord\\.cli\\.LeakReportTest\\$Careless\\.loseABatch")
        .contains("it was released by thread 'main'", "released here")
        .containsPattern("at io\\.zrecord\\.cli\\.LeakReportTest\\$Careless\\.releaseEarly")
        .contains("holds 2 of 2 batches", "They were taken here:")
        .containsPattern("at io\\.zrecord\\.cli\\.LeakReportTest\\$Careless\\.takeWithoutClosing");
  }

  @Test
  void withoutThePropertyNoStackIsKept() throws Exception {
    assertThat(outputOf("false", "go on"))
        .contains("-Dzrecord.traceBatches=true shows where it was released")
        .contains("-Dzrecord.traceBatches=true tells where they were taken")
        .doesNotContain("loseABatch", "Careless.releaseEarly", "They were taken here");
  }
}
