package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.BatchReleasedException;
import io.zrecord.errors.BatchTimeoutException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a feed of one group delivers, and how it treats its consumer. */
class FeedTest {
  private static final int RECORDS = 1_003;
  private static final long SEED = 5;

  @TempDir
  Path directory;

  private RecordDataset dataset;

  @BeforeEach
  void write() {
    FeedData.write(directory.resolve("data"), RECORDS, 0);
    dataset = RecordDataset.open(directory.resolve("data").toString());
  }

  @AfterEach
  void close() {
    dataset.close();
  }

  private static Sampler shuffle() {
    return Samplers.shuffle(RECORDS, SEED);
  }

  private FeedGroup group(int batchSize) {
    return FeedGroup.of(dataset).sampler(shuffle(), SEED).batchSize(batchSize);
  }

  @Test
  void everyRecordIsDeliveredOnceAnEpochInTheOrderOfTheSampler() {
    for (int threads = 1; threads <= 8; threads *= 2) {
      try (Feed feed = Feed.of(group(64))
          .loaderThreads(threads)
          .depth(1 + threads)
          .stopBeforeEpoch(3)
          .start()) {
        assertThat(feed.batchesPerEpoch()).isEqualTo(16);
        List<Long> found = FeedData.labels(feed, Integer.MAX_VALUE);
        assertThat(found).isEqualTo(FeedData.expected(shuffle(), 0, 0, 3));
        assertThat(feed.statistics().records()).isEqualTo(3L * RECORDS);
        assertThat(feed.statistics().readNanos()).isPositive();
        assertThat(feed.statistics().decodeNanos()).isPositive();
        assertThat(feed.next()).isNull();
      }
    }
  }

  @Test
  void aRemainderIsDroppedIfWanted() {
    try (Feed feed = Feed.of(group(100).dropRemainder()).stopBeforeEpoch(2).start()) {
      assertThat(feed.batchesPerEpoch()).isEqualTo(10);
      List<Long> found = FeedData.labels(feed, 11);
      assertThat(found.subList(0, 1_000))
          .isEqualTo(FeedData.expected(shuffle(), 0, 0, 1).subList(0, 1_000));
      assertThat(found.get(1_000)).isEqualTo(shuffle().index(1, 0));
    }
  }

  @Test
  void theEndIsABatchCountedFromTheVeryBeginning() {
    for (long end : new long[] {1, 16, 17, 30}) {
      try (Feed feed = Feed.of(group(64))
          .startAt(0, end - 1)
          .stopBeforeBatch(end)
          .stopBeforeEpoch(Long.MAX_VALUE)
          .start()) {
        try (FeedBatch only = feed.next()) {
          assertThat(only.batch()).isEqualTo(end - 1);
          assertThat(only.epoch()).isEqualTo((end - 1) / 16);
          assertThat(only.index(0))
              .isEqualTo(shuffle().index((end - 1) / 16, 64 * ((end - 1) % 16)));
        }
        assertThat(feed.next()).isNull();
      }
    }
  }

  @Test
  void ranksShareTheOrder() {
    List<Long> found = new ArrayList<>();
    Set<Long> seeds = new HashSet<>();
    for (int rank = 0; rank < 3; rank++) {
      try (Feed feed = Feed.of(group(50)).rank(rank, 3, Remainder.UNEVEN).start()) {
        for (FeedBatch batch : feed) {
          try (batch) {
            for (int i = 0; i < batch.count(); i++) {
              assertThat(batch.position(i) % 3).isEqualTo(rank);
              assertThat(shuffle().index(0, batch.position(i))).isEqualTo(batch.index(i));
              seeds.add(batch.recordSeed(i));
            }
            found.addAll(FeedData.check(batch));
          }
        }
      }
    }
    assertThat(found).containsExactlyInAnyOrderElementsOf(FeedData.expected(shuffle(), 0, 0, 1));
    assertThat(seeds).hasSize(RECORDS);
  }

  @Test
  void aBatchThatWasClosedIsRefusedAndOneThatIsHeldStays() {
    try (Feed feed = Feed.of(group(10)).depth(2).start()) {
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
          .hasMessageContaining("released by thread 'main'");
    }
  }

  @Test
  void aConsumerThatHoldsAllBatchesIsToldSo() throws InterruptedException {
    AtomicReference<Thread> loader = new AtomicReference<>();
    CountDownLatch two = new CountDownLatch(2);
    try (Feed feed = Feed.of(group(10))
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
      FeedBatch one = feed.next();
      FeedBatch other = feed.next();
      assertThatThrownBy(feed::next)
          .isInstanceOf(BatchTimeoutException.class)
          .hasMessageContaining("holds 2 of 2 batches")
          .hasMessageContaining("zrecord.traceBatches")
          .hasMessageContaining("loader 0 waits for room");
      one.close();
      other.close();
    }
  }

  @Test
  void damageIsReportedWithItsBatchAndNotBefore() throws IOException {
    Damage.flipNearTheEnd(directory.resolve("data"));
    try (Feed feed =
        Feed.of(group(10).sampler(Samplers.sequential(0, RECORDS, 1), SEED)).start()) {
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
    Set<Integer> priorities = new HashSet<>();
    try (Feed feed = Feed.of(group(10))
        .loaderThreads(3)
        .loaderPriority(2)
        .stopBeforeEpoch(Long.MAX_VALUE)
        .onLoaderStart(() -> {
          hooks.incrementAndGet();
          synchronized (priorities) {
            priorities.add(Thread.currentThread().getPriority());
          }
        })
        .start()) {
      feed.next().close();
      feed.interrupt();
      int rest = FeedData.labels(feed, Integer.MAX_VALUE).size();
      assertThat(rest).isLessThanOrEqualTo(4 * 10);
      assertThat(hooks.get()).isEqualTo(3);
      assertThat(priorities).containsExactly(2);
    }
  }

  @Test
  void aFailingHookReachesTheConsumer() {
    try (Feed feed = Feed.of(group(10))
        .onLoaderStart(() -> {
          throw new UnsupportedOperationException("no device");
        })
        .start()) {
      assertThatThrownBy(feed::next).hasRootCauseMessage("no device");
    }
  }

  @Test
  void bytesAliveAreBoundedAndTheFeedGoesOnAllTheSame() {
    AtomicLong alive = new AtomicLong();
    AtomicLong most = new AtomicLong();
    try (Feed feed = Feed.of(group(20))
        .loaderThreads(4)
        .depth(16)
        .maxBytes(2_000)
        .sink(() -> batch -> {
          most.accumulateAndGet(alive.addAndGet(1), Math::max);
          return null;
        })
        .start()) {
      List<Long> found = new ArrayList<>();
      for (FeedBatch batch : feed) {
        found.addAll(FeedData.check(batch));
        alive.decrementAndGet();
        batch.close();
      }
      assertThat(found).isEqualTo(FeedData.expected(shuffle(), 0, 0, 1));
    }
    // A batch has some 1,100 bytes, so two of them do not fit, except the one that is waited for.
    assertThat(most.get()).isLessThan(6);
  }

  @Test
  void aSinkTakesEveryBatchAndItsResultReachesTheConsumer() {
    ConcurrentLinkedQueue<Thread> threads = new ConcurrentLinkedQueue<>();
    AtomicInteger closed = new AtomicInteger();
    BatchSinkSource source = new BatchSinkSource(threads, closed);
    try (Feed feed = Feed.of(group(100)).sink(source::make).start()) {
      for (FeedBatch batch : feed) {
        assertThat(batch.placed()).isEqualTo(batch.data("label").getLong(0));
        batch.close();
      }
    }
    assertThat(threads).doesNotContain(Thread.currentThread()).hasSize(11);
    assertThat(closed.get()).isEqualTo(2);
  }

  private record BatchSinkSource(ConcurrentLinkedQueue<Thread> threads, AtomicInteger closed) {
    BatchSink make() {
      return new BatchSink() {
        @Override
        public Object place(FeedBatch batch) {
          threads.add(Thread.currentThread());
          ByteBuffer labels = batch.data("label");
          assertThat(labels.isDirect()).isTrue();
          return labels.getLong(0);
        }

        @Override
        public void close() {
          closed.incrementAndGet();
        }
      };
    }
  }

  @Test
  void statisticsAreShownOverJmxUntilTheFeedIsClosed() throws Exception {
    ObjectName name = new ObjectName("io.zrecord:type=Feed,name=\"jmx test\"");
    try (Feed feed = Feed.of(group(100)).publishStatistics("jmx test").start()) {
      FeedData.labels(feed, 3);
      assertThat(ManagementFactory.getPlatformMBeanServer().getAttribute(name, "Records"))
          .isEqualTo(300L);
      assertThatThrownBy(
              () -> Feed.of(group(1)).publishStatistics("jmx test").start().close())
          .hasMessageContaining("no other feed");
    }
    assertThat(ManagementFactory.getPlatformMBeanServer().isRegistered(name)).isFalse();
  }

  @Test
  void aConsumerThatIsSlowerThanTheLoadersNeverWaits() throws InterruptedException {
    // The sink tells that a batch is loaded, so that no clock decides.
    AtomicInteger loaded = new AtomicInteger();
    CountDownLatch four = new CountDownLatch(4);
    try (Feed feed = Feed.of(group(10))
        .loaderThreads(1)
        .sink(() -> batch -> {
          loaded.incrementAndGet();
          four.countDown();
          return null;
        })
        .start()) {
      four.await();
      int taken = 0;
      while (taken < 50) {
        while (loaded.get() < Math.min(101, taken + 3)) {
          Thread.onSpinWait();
        }
        feed.next().close();
        taken++;
      }
      assertThat(feed.statistics().readyRatio()).isGreaterThan(0.95);
    }
  }

  @Test
  void theTimeThatAConsumerWaitsIsCounted() throws InterruptedException {
    Thread consumer = Thread.currentThread();
    CountDownLatch isTwoLoaded = new CountDownLatch(2);
    CountDownLatch maySecondStart = new CountDownLatch(1);
    AtomicInteger loaded = new AtomicInteger();
    long[] blockedNanos = new long[1];
    try (Feed feed = Feed.of(group(10))
        .loaderThreads(1)
        .depth(2)
        .sink(() -> batch -> {
          isTwoLoaded.countDown();
          if (loaded.incrementAndGet() == 3) {
            // Loaded only when the consumer has been seen to wait for it.
            maySecondStart.await();
            while (consumer.getState() != Thread.State.TIMED_WAITING) {
              Thread.onSpinWait();
            }
            long start = System.nanoTime();
            while (System.nanoTime() - start < 2_000_000) {
              Thread.onSpinWait();
            }
            blockedNanos[0] = System.nanoTime() - start;
          }
          return null;
        })
        .start()) {
      isTwoLoaded.await();
      assertThat(feed.statistics().idleNanos()).isZero();
      feed.next().close();
      feed.next().close();
      long before = feed.statistics().idleNanos();
      maySecondStart.countDown();
      feed.next().close();
      assertThat(feed.statistics().idleNanos() - before).isGreaterThanOrEqualTo(blockedNanos[0]);
      assertThat(blockedNanos[0]).isPositive();
    }
  }

  @Test
  void theDefaultsAreThoseThatAreDocumented() {
    FeedData.write(directory.resolve("defaults"), 2_000, 0);
    try (RecordDataset data = RecordDataset.open(directory.resolve("defaults").toString())) {
      FeedBuilder builder = Feed.of(FeedGroup.of(data));
      assertThat(builder.depth()).isEqualTo(4);
      assertThat(builder.loaderThreads()).isEqualTo(2);
      List<Long> records = new ArrayList<>();
      List<Integer> counts = new ArrayList<>();
      try (Feed feed = builder.start()) {
        for (FeedBatch batch : feed) {
          try (batch) {
            assertThat(batch.group()).isEqualTo("train");
            assertThat(batch.epoch()).isZero();
            counts.add(batch.count());
            records.addAll(LongStream.of(batch.indices()).boxed().toList());
          }
        }
      }
      assertThat(counts).containsExactly(256, 256, 256, 256, 256, 256, 256, 208);
      Sampler order = Samplers.shuffle(2_000, 42);
      assertThat(records)
          .isEqualTo(LongStream.range(0, 2_000).mapToObj(p -> order.index(0, p)).toList());
    }
  }

  @Test
  void wrongSettingsSayWhatIsAllowed() {
    assertThatThrownBy(() -> group(0)).hasMessageContaining("from 1 to");
    assertThatThrownBy(() -> Feed.of(group(1)).depth(1)).hasMessageContaining("from 2 to");
    assertThatThrownBy(() -> FeedGroup.of(dataset).fields("nope")).hasMessageContaining("label");
    assertThatThrownBy(() -> FeedGroup.of(dataset).fields("label", "label"))
        .hasMessageContaining("once");
    assertThatThrownBy(() -> group(1).sampler(Samplers.shuffle(RECORDS + 1, 1), 1))
        .hasMessageContaining("" + RECORDS);
    assertThatThrownBy(() -> group(1).sampler(shuffle().share(0, 2, Remainder.DROP), 1))
        .hasMessageContaining("rank(");
    assertThatThrownBy(() -> Feed.of(group(1)).rank(2, 2, Remainder.DROP))
        .hasMessageContaining("count from 0");
    assertThatThrownBy(
            () -> Feed.of(group(1).collate("label", Collation.padTo(3))).start())
        .hasMessageContaining("one length");
    assertThatThrownBy(
            () -> Feed.of(group(1).collate("nope", Collation.padTo(3))).start())
        .hasMessageContaining("label");
    assertThatThrownBy(() -> Feed.of(group(1), FeedGroup.of(dataset)).start())
        .hasMessageContaining("one of its own");
    assertThatThrownBy(() -> Feed.of(
                group(1).sampler(Samplers.random(RECORDS, 1), 1),
                FeedGroup.of(dataset).name("other"))
            .start())
        .hasMessageContaining("take(");
    FeedState other = new FeedState(
        0,
        0,
        List.of(new FeedState.GroupState("train", 0L, null, SEED + 1, "", "", 0)),
        null,
        null);
    assertThatThrownBy(() -> Feed.of(group(1)).resume(other).start())
        .hasMessageContaining("seed " + SEED);
    assertThatThrownBy(() -> Feed.of(group(1)).resume(other).startAt(1, 0).start())
        .hasMessageContaining("one way");
  }

  @Test
  @Timeout(600)
  void aConsumerThatHoldsABatchGetsTheNextWhateverTheBytes() {
    for (int run = 0; run < 20; run++) {
      FeedBuilder builder = Feed.of(group(20)).maxBytes(1_000).timeout(Duration.ofMinutes(2));
      if (run % 2 == 1) {
        builder.asCompleted();
      }
      try (Feed feed = builder.start();
          FeedBatch one = feed.next();
          FeedBatch two = feed.next();
          FeedBatch three = feed.next()) {
        assertThat(List.of(one.count(), two.count(), three.count())).containsOnly(20);
      }
    }
  }

  @Test
  void theBufferIsAsItShouldBeWhateverTheConsumerDidWithItBefore() {
    try (Feed feed = Feed.of(group(10)).depth(2).start()) {
      for (FeedBatch batch : feed) {
        try (batch) {
          ByteBuffer labels = batch.data("label");
          assertThat(labels.getLong(0)).isEqualTo(batch.index(0));
          labels.order(ByteOrder.BIG_ENDIAN).position(3).limit(9);
          assertThat(batch.value("label", 2).getLong(0)).isEqualTo(batch.index(2));
          assertThat(labels.position()).isEqualTo(3);
          FeedData.check(batch);
        }
      }
      assertThat(feed.statistics().records()).isEqualTo(RECORDS);
    }
  }

  @Test
  void nothingThatGoesWrongInALoaderLooksLikeTheEndOfTheData() {
    List<BatchSink> sinks = List.of(
        batch -> {
          throw new InterruptedException("by the sink");
        },
        batch -> {
          throw new IOException("no device");
        },
        batch -> {
          batch.close();
          return null;
        },
        batch -> {
          throw new AssertionError("a bug");
        });
    for (BatchSink sink : sinks) {
      try (Feed feed = Feed.of(group(10)).sink(() -> sink).start()) {
        assertThatThrownBy(feed::next)
            .isInstanceOfAny(IllegalStateException.class, AssertionError.class);
      }
    }
    try (Feed feed = Feed.of(group(10))
        .sink(() -> batch -> {
          Thread.currentThread().interrupt();
          return null;
        })
        .start()) {
      assertThat(FeedData.labels(feed, Integer.MAX_VALUE)).hasSize(RECORDS);
    }
    try (Feed feed =
        Feed.of(group(10)).memory(bytes -> ByteBuffer.allocate(bytes)).start()) {
      assertThatThrownBy(feed::next).hasMessageContaining("direct buffer");
    }
  }

  @Test
  @Timeout(600)
  void theEndComesAlsoToAConsumerThatHoldsAllBatches() {
    try (Feed feed = Feed.of(group(600)).depth(2).start()) {
      FeedBatch one = feed.next();
      FeedBatch two = feed.next();
      assertThat(feed.next()).isNull();
      one.close();
      two.close();
    }
  }
}
