package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a feed says of the batches that are to come, compared with those that come. */
class FeedProgressTest {
  private static final int RECORDS = 103;

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

  private FeedBuilder feed(int batchSize) {
    return Feed.of(FeedGroup.of(dataset)
        .fields("label")
        .sampler(Samplers.shuffle(RECORDS, 4), 4)
        .batchSize(batchSize));
  }

  /** What a batch says of those after it. */
  private record Said(long number, long epoch, FeedState next, long batchesLeft) {}

  private static List<Said> deliver(Feed feed) {
    List<Said> said = new ArrayList<>();
    for (FeedBatch batch : feed) {
      try (batch) {
        said.add(new Said(batch.batch(), batch.epoch(), batch.next(), batch.batchesLeft()));
      }
    }
    return said;
  }

  /** Compares what a feed said with what it delivered. */
  private static void check(FeedBuilder builder) {
    try (Feed feed = builder.start()) {
      List<Said> said = deliver(feed);
      assertThat(said).isNotEmpty();
      assertThat(feed.firstEpoch()).isEqualTo(said.get(0).epoch());
      assertThat(feed.firstBatch()).isEqualTo(said.get(0).number());
      assertThat(feed.lastBatch()).hasValue(said.get(said.size() - 1).number());
      Map<Long, Long> left = new HashMap<>();
      said.forEach(batch -> left.merge(batch.epoch(), 1L, Long::sum));
      assertThat(feed.batchesOfFirstEpoch()).isEqualTo(left.get(feed.firstEpoch()));
      for (Said batch : said) {
        left.merge(batch.epoch(), -1L, Long::sum);
        assertThat(batch.batchesLeft())
            .as("after batch %d", batch.number())
            .isEqualTo(left.getOrDefault(batch.next().epoch(), 0L));
      }
    }
  }

  @Test
  void theBatchesThatAreLeftAreThoseThatCome() {
    check(feed(10).stopBeforeEpoch(3));
    check(feed(10).stopBeforeEpoch(3).startAt(1, 4));
    check(feed(10).stopBeforeEpoch(3).startAtPosition(0, RECORDS));
    check(feed(10).stopBeforeEpoch(3).stopBeforeBatch(16));
    check(feed(10).stopBeforeEpoch(3).stopBeforeBatch(11));
    try (Feed feed = feed(10).stopBeforeEpoch(3).start()) {
      for (Said batch : deliver(feed).subList(0, 32)) {
        check(feed(10).stopBeforeEpoch(3).resume(batch.next()));
        check(feed(7).stopBeforeEpoch(3).resume(batch.next()));
      }
    }
  }

  @Test
  void batchesThatOvertookOthersAreNotLeft() {
    FeedBuilder builder = feed(10).stopBeforeEpoch(2).depth(8).loaderThreads(4).asCompleted();
    try (Feed feed = builder.start()) {
      long given = 0;
      for (FeedBatch batch : feed) {
        try (batch) {
          given++;
          long epoch = batch.next().epoch();
          FeedState.Ahead ahead = batch.next().ahead();
          long overtook = ahead == null ? 0 : ahead.batches().size();
          if (epoch < 2) {
            // All that is given is before the state, or ahead of it in its epoch or in the next.
            assertThat(given + batch.batchesLeft())
                .isBetween(11 * (epoch + 1), 11 * (epoch + 1) + overtook);
          } else {
            assertThat(batch.batchesLeft()).isZero();
          }
        }
      }
      assertThat(given).isEqualTo(22);
    }
  }

  @Test
  void anEndlessOrderHasNoLastBatch() {
    FeedGroup group = FeedGroup.of(dataset)
        .fields("label")
        .sampler(Samplers.random(RECORDS, 4), 4)
        .batchSize(10);
    try (Feed feed = Feed.of(group).start();
        FeedBatch batch = feed.next()) {
      assertThat(feed.lastBatch()).isEmpty();
      assertThat(feed.batchesOfFirstEpoch()).isEqualTo(Sampler.ENDLESS);
      assertThat(batch.batchesLeft()).isEqualTo(Sampler.ENDLESS);
    }
    try (Feed feed = feed(10).stopBeforeEpoch(Long.MAX_VALUE).start()) {
      assertThat(feed.lastBatch()).isEmpty();
      assertThat(feed.batchesOfFirstEpoch()).isEqualTo(11);
    }
  }
}
