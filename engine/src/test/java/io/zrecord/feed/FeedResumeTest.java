package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.Budget;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A feed that is stopped anywhere goes on with the very next record, whatever its threads, depth,
 * batch size and number of ranks.
 */
class FeedResumeTest {
  private static final int RECORDS = 1_003;
  private static final int EPOCHS = 2;
  private static final long SEED = 5;
  private static final int RESUMES = Budget.of(100);

  @TempDir
  Path directory;

  private RecordDataset dataset;
  private RecordDataset other;

  @BeforeEach
  void write() {
    FeedData.write(directory.resolve("data"), RECORDS, 0);
    FeedData.write(directory.resolve("other"), 301, 10_000);
    dataset = RecordDataset.open(directory.resolve("data").toString());
    other = RecordDataset.open(directory.resolve("other").toString());
  }

  @AfterEach
  void close() {
    dataset.close();
    other.close();
  }

  private static Sampler shuffle() {
    return Samplers.shuffle(RECORDS, SEED);
  }

  private FeedGroup group(int batchSize) {
    return FeedGroup.of(dataset).fields("label").sampler(shuffle(), SEED).batchSize(batchSize);
  }

  private FeedGroup otherGroup(String name) {
    return FeedGroup.of(other)
        .name(name)
        .fields("label")
        .sampler(Samplers.shuffle(301, 3), 3)
        .batchSize(23);
  }

  /** What each rank took, and the state that all of them have then. */
  private record Run(List<List<Long>> ranks, FeedState state) {}

  /** Runs all ranks; the run ends in the epoch that it begins in, or at its end. */
  private Run run(@Nullable FeedState from, int batchSize, int worldSize, Random random) {
    long epoch = from == null ? 0 : from.epoch();
    long consumed = from == null ? 0 : from.groups().get(0).position();
    long wholeBatches = (RECORDS - consumed) / worldSize / batchSize;
    int steps = 1 + random.nextInt(12);
    List<List<Long>> ranks = new ArrayList<>();
    FeedState state = null;
    for (int rank = 0; rank < worldSize; rank++) {
      FeedBuilder builder = Feed.of(group(batchSize))
          .rank(rank, worldSize, Remainder.UNEVEN)
          .loaderThreads(1 + random.nextInt(16))
          .depth(2 + random.nextInt(7))
          .stopBeforeEpoch(epoch + 1);
      if (from != null) {
        builder.resume(FeedState.fromJson(from.toJson()));
      }
      List<Long> labels = new ArrayList<>();
      try (Feed feed = builder.start()) {
        // Behind the whole batches ranks may have one batch more or less, so all go on to the end.
        for (int i = 0; i < steps || steps >= wholeBatches; i++) {
          try (FeedBatch batch = feed.next()) {
            if (batch == null) {
              break;
            }
            for (int k = 0; k < batch.count(); k++) {
              labels.add(batch.data("label").getLong(8 * k));
            }
          }
        }
        FeedState reached = feed.lastCompleted();
        if (rank == 0) {
          state = reached;
        }
        // The number of a batch may differ there for the same reason.
        assertThat(state.epoch()).isEqualTo(reached.epoch());
        assertThat(state.groups()).isEqualTo(reached.groups());
      }
      ranks.add(labels);
    }
    return new Run(ranks, state);
  }

  @Test
  void theUnionOfAllRunsIsWhatOneRunDelivers() {
    Random random = Budget.random();
    List<Long> all = FeedData.expected(shuffle(), 0, 0, EPOCHS);
    int stops = 0;
    while (stops < RESUMES) {
      List<Long> found = new ArrayList<>();
      FeedState state = null;
      while (state == null || state.epoch() < EPOCHS) {
        Run run = run(state, 1 + random.nextInt(100), 1 + random.nextInt(8), random);
        found.addAll(inOrder(run.ranks()));
        state = run.state();
        stops++;
      }
      assertThat(found).as("after %d stops", stops).isEqualTo(all);
    }
  }

  /** Returns the order of all ranks: a record of each in turn. */
  private static List<Long> inOrder(List<List<Long>> ranks) {
    List<Long> order = new ArrayList<>();
    for (int i = 0; i < ranks.get(0).size(); i++) {
      for (List<Long> rank : ranks) {
        if (i < rank.size()) {
          order.add(rank.get(i));
        }
      }
    }
    return order;
  }

  @Test
  void interleavedGroupsAndPassesOfTheValidationGoOnInTheirMidst() {
    Random random = Budget.random();
    List<String> uninterrupted = mixed(null, Integer.MAX_VALUE, random).batches();
    assertThat(uninterrupted).hasSizeGreaterThan(80);
    for (int run = 0; run < Math.max(1, RESUMES / 5); run++) {
      List<String> found = new ArrayList<>();
      Mixed part = mixed(null, 1 + random.nextInt(9), random);
      while (!part.batches().isEmpty()) {
        found.addAll(part.batches());
        part = mixed(part.state(), 1 + random.nextInt(20), random);
      }
      assertThat(found).isEqualTo(uninterrupted);
    }
  }

  private record Mixed(List<String> batches, @Nullable FeedState state) {}

  private Mixed mixed(@Nullable FeedState from, int batches, Random random) {
    FeedBuilder builder = Feed.of(group(40), otherGroup("other"))
        .interleave()
        .validate(Validation.everyBatches(
            7, otherGroup("a").sampler(Samplers.sequential(0, 50, 1), 0), otherGroup("b")))
        .loaderThreads(1 + random.nextInt(4))
        .stopBeforeEpoch(EPOCHS);
    if (from != null) {
      builder.resume(FeedState.fromJson(from.toJson()));
    }
    List<String> found = new ArrayList<>();
    FeedState state = from;
    try (Feed feed = builder.start()) {
      for (int i = 0; i < batches; i++) {
        try (FeedBatch batch = feed.next()) {
          if (batch == null) {
            break;
          }
          found.add(batch.batch() + " " + batch.group() + batch.isValidation() + batch.epoch()
              + List.of(batch.index(0), batch.recordSeed(0), (long) batch.count()));
          state = batch.next();
        }
      }
    }
    return new Mixed(found, state);
  }

  @Test
  void aStateTakenAmongOvertakingBatchesLosesAndRepeatsNothing() {
    Random random = Budget.random();
    List<Long> all = FeedData.expected(shuffle(), 0, 0, EPOCHS);
    Collections.sort(all);
    int overtaken = 0;
    // Where a feed is stopped no batch may be ahead, so there are more runs if there was none.
    for (int run = 0; run < RESUMES / 2 || overtaken == 0; run++) {
      List<Long> found = new ArrayList<>();
      FeedState state = null;
      boolean goesOn = true;
      while (goesOn) {
        Overtaking overtaking = new Overtaking();
        FeedBuilder builder = Feed.of(group(20))
            .asCompleted()
            .loaderThreads(4)
            .depth(8)
            .sink(() -> batch -> {
              if (batch.batch() % 3 == 0) {
                overtaking.await(batch.batch());
              }
              return null;
            })
            .stopBeforeEpoch(EPOCHS);
        if (state != null) {
          builder.resume(FeedState.fromJson(state.toJson()));
          overtaken += state.ahead() == null ? 0 : state.ahead().batches().size();
        }
        int batches = 1 + random.nextInt(60);
        try (Feed feed = builder.start()) {
          for (int i = 0; i < batches && goesOn; i++) {
            try (FeedBatch batch = feed.next()) {
              goesOn = batch != null;
              if (batch != null) {
                overtaking.take(batch.batch());
                for (long index : batch.indices()) {
                  found.add(index);
                }
                state = batch.next();
              }
            }
          }
        }
      }
      Collections.sort(found);
      assertThat(found).isEqualTo(all);
    }
    assertThat(overtaken).isPositive();
  }

  /** Lets batches be overtaken: each waits for a while until the consumer took a later one. */
  private static final class Overtaking {
    /** The last batches wait in vain. */
    private static final long MOST_MILLIS = 50;

    private long taken = -1;

    synchronized void take(long batch) {
      taken = Math.max(taken, batch);
      notifyAll();
    }

    synchronized void await(long batch) throws InterruptedException {
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MOST_MILLIS);
      for (long left = end - System.nanoTime(); taken < batch && left > 0; ) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
        left = end - System.nanoTime();
      }
    }
  }

  /** The newest version is another one then, but its records are the same. */
  @Test
  void aTagOfTheTableLetsAFeedGoOn() {
    Path path = directory.resolve("data");
    List<Long> found = new ArrayList<>();
    FeedState state;
    try (Feed feed = Feed.of(wholeGroup(dataset)).stopBeforeEpoch(1).start()) {
      found.addAll(FeedData.labels(feed, 3));
      state = feed.lastCompleted();
    }
    RecordTable.at(LocalStorage.at(path)).tag(0, "train");
    try (RecordDataset tagged = RecordDataset.open(path.toString());
        Feed feed = Feed.of(wholeGroup(tagged)).stopBeforeEpoch(1).resume(state).start()) {
      assertThat(tagged.version()).hasValue(1);
      found.addAll(FeedData.labels(feed, Integer.MAX_VALUE));
    }
    assertThat(found).isEqualTo(FeedData.expected(shuffle(), 0, 0, 1));
  }

  private static FeedGroup wholeGroup(RecordDataset data) {
    return FeedGroup.of(data).sampler(shuffle(), SEED).batchSize(20);
  }

  /** A repair gives the number of a version that it takes back to the next commit. */
  @Test
  void aStateOfAVersionThatARepairTookBackIsRefused() {
    FeedState state = new FeedState(
        0,
        3,
        List.of(new FeedState.GroupState(
            "train",
            dataset.version().getAsLong(),
            UUID.randomUUID(),
            SEED,
            "shuffle",
            OrderDigest.of(shuffle()),
            60)),
        null,
        null);
    assertThatThrownBy(() -> Feed.of(group(20)).resume(state).start())
        .hasMessageContaining(String.valueOf(state.groups().get(0).datasetCommit()))
        .hasMessageContaining(String.valueOf(dataset.recordsCommitId().orElseThrow()))
        .hasMessageContaining("repaired");
    assertThat(FeedState.fromJson(state.toJson())).isEqualTo(state);
  }

  @Test
  void aStateOfOvertakingBatchesBelongsToItsPlan() {
    String plan = "SEQUENTIAL rank 0 of 1 UNEVEN; train: 1003 by 20";
    FeedState state = new FeedState(
        0,
        3,
        List.of(new FeedState.GroupState(
            "train",
            dataset.version().getAsLong(),
            dataset.recordsCommitId().orElseThrow(),
            SEED,
            "shuffle",
            OrderDigest.of(shuffle()),
            60)),
        null,
        new FeedState.Ahead(plan, List.of(2L, 4L)));
    assertThatThrownBy(() -> Feed.of(group(21)).resume(state).start())
        .hasMessageContaining("train: 1003 by 21");
    assertThatThrownBy(() -> Feed.of(group(20).dropRemainder()).resume(state).start())
        .hasMessageContaining("without remainder");
    List<Long> expected = FeedData.expected(shuffle(), 0, 60, 1);
    expected.subList(80, 100).clear();
    expected.subList(40, 60).clear();
    // In one go, and stopped and resumed after each batch.
    for (boolean inOneGo : new boolean[] {true, false}) {
      List<Long> found = new ArrayList<>();
      FeedState current = state;
      boolean goesOn = true;
      while (goesOn) {
        try (Feed feed = Feed.of(group(20)).resume(current).stopBeforeEpoch(1).start()) {
          FeedBatch batch = feed.next();
          goesOn = batch != null;
          while (batch != null) {
            for (long index : batch.indices()) {
              found.add(index);
            }
            current = FeedState.fromJson(batch.next().toJson());
            batch.close();
            assertThat(feed.lastCompleted()).isEqualTo(current);
            batch = inOneGo ? feed.next() : null;
          }
        }
      }
      assertThat(found).isEqualTo(expected);
    }
  }

  @Test
  void lastCompletedWaitsForBatchesThatAreNotClosed() {
    try (Feed feed = Feed.of(group(10)).start()) {
      FeedBatch first = feed.next();
      FeedBatch second = feed.next();
      second.close();
      assertThat(feed.lastCompleted().groups().get(0).position()).isZero();
      assertThat(feed.lastCompleted().ahead().batches()).containsExactly(1L);
      first.close();
      assertThat(feed.lastCompleted().groups().get(0).position()).isEqualTo(20);
      assertThat(feed.lastCompleted().ahead()).isNull();
    }
  }

  private static String json(String epoch, String batch, String groups, String ahead) {
    return "{\"format\":1,\"epoch\":" + epoch + ",\"batch\":" + batch + ",\"groups\":" + groups
        + ",\"validation\":null,\"ahead\":" + ahead + "}";
  }

  @Test
  void aStateOfSomethingElseIsRefused() {
    assertThat(FeedState.fromJson(json("0", "0", "[]", "null")).groups()).isEmpty();
    for (String text : List.of(
        "",
        "null",
        "[]",
        "{}",
        "{\"format\":2,\"epoch\":0,\"batch\":0,\"groups\":[]}",
        json("0", "0", "[],\"more\":1", "null"),
        json("0", "0", "[null]", "null"),
        json("0.5", "0", "[]", "null"),
        json("0", "\"0\"", "[]", "null"),
        json("0,\"epoch\":1", "0", "[]", "null"),
        json("9223372036854775807", "0", "[]", "null"),
        json(
            "0",
            "0",
            "[{\"name\":\"train\",\"datasetVersion\":0,\"datasetCommit\":null,\"seed\":5,\"sampler\":\"\",\"order\":\"\"}]",
            "null"),
        json(
            "0",
            "0",
            "[{\"name\":null,\"datasetVersion\":0,\"datasetCommit\":null,\"seed\":5,\"sampler\":\"\",\"order\":\"\",\"position\":0}]",
            "null"),
        json("0", "0", "[]", "{\"plan\":\"\",\"batches\":[0]}"),
        json("0", "0", "[]", "{\"plan\":\"\",\"batches\":[null]}"),
        "{\"format\":1,\"epoch\":-1,\"batch\":0,\"groups\":[]}",
        "{\"format\":1,\"epoch\":0,\"batch\":0,\"groups\":[]} x")) {
      assertThatThrownBy(() -> FeedState.fromJson(text))
          .as(text)
          .isInstanceOf(IllegalArgumentException.class);
    }
    FeedState beyond = new FeedState(
        0,
        0,
        List.of(new FeedState.GroupState(
            "train",
            dataset.version().getAsLong(),
            dataset.recordsCommitId().orElseThrow(),
            SEED,
            "shuffle",
            OrderDigest.of(shuffle()),
            RECORDS + 1)),
        null,
        null);
    assertThatThrownBy(() -> Feed.of(group(10)).resume(beyond).start())
        .hasMessageContaining("position 1004");
  }
}
