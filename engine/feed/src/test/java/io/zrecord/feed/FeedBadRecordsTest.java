package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.StorageException;
import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Samplers;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What becomes of records that are bad, and of their batches. */
class FeedBadRecordsTest extends TransformedFeed {
  /**
   * Makes a group in which every 50th record cannot be transformed, and 100 and 101 are too long as
   * well.
   */
  private FeedGroup groupWithBadRecords() {
    return group()
        .transform(List.of(SCORE), () -> (in, out, seed) -> {
          if (in.index() % 50 == 0) {
            throw new IOException("no picture");
          }
          out.value("score").putFloat(0, (float) in.index());
        })
        .collate("tokens", Collation.padTo(5));
  }

  private record Delivered(
      List<List<Long>> batches, List<BadRecord> bad, FeedStatistics statistics) {}

  private static Delivered deliver(FeedBuilder builder) {
    List<List<Long>> batches = new ArrayList<>();
    List<BadRecord> bad = new ArrayList<>();
    try (Feed feed = builder.start()) {
      for (FeedBatch batch : feed) {
        try (batch) {
          bad.addAll(batch.badRecords());
          batches.add(LongStream.of(batch.indices()).boxed().toList());
          for (int i = 0; i < batch.count(); i++) {
            assertThat(batch.value("score", i).getFloat(0)).isEqualTo((float) batch.index(i));
            assertThat(batch.value("label", i).getLong(0)).isEqualTo(batch.index(i));
            long position = batch.position(i);
            assertThat(Samplers.shuffle(RECORDS, 9).index(batch.epoch(), position))
                .isEqualTo(batch.index(i));
          }
        }
      }
      return new Delivered(batches, bad, feed.statistics());
    }
  }

  @Test
  void badRecordsAreSkippedSubstitutedOrTakeTheirBatchWithThem() {
    Set<Long> bad = Set.of(0L, 50L, 100L, 150L, 200L, 250L);
    List<List<Long>> planned = new ArrayList<>();
    for (int from = 0; from < RECORDS; from += 32) {
      List<Long> batch = new ArrayList<>();
      for (int p = from; p < Math.min(RECORDS, from + 32); p++) {
        batch.add(Samplers.shuffle(RECORDS, 9).index(0, p));
      }
      planned.add(batch);
    }
    Delivered skipped =
        deliver(Feed.of(groupWithBadRecords()).badRecords(BadRecordPolicy.SKIP_RECORD));
    assertThat(skipped.batches())
        .isEqualTo(planned.stream()
            .map(batch -> batch.stream().filter(i -> !bad.contains(i)).toList())
            .toList());
    assertThat(skipped.bad())
        .hasSize(6)
        .allMatch(record -> record.field().equals("transform")
            && record.reason().contains("no picture")
            && bad.contains(record.index()));
    assertThat(skipped.statistics().badRecords()).isEqualTo(6);

    Delivered substituted =
        deliver(Feed.of(groupWithBadRecords()).badRecords(BadRecordPolicy.SUBSTITUTE));
    assertThat(substituted.batches().stream().map(List::size).toList())
        .isEqualTo(planned.stream().map(List::size).toList());
    for (int b = 0; b < planned.size(); b++) {
      for (int i = 0; i < planned.get(b).size(); i++) {
        long index = planned.get(b).get(i);
        long found = substituted.batches().get(b).get(i);
        assertThat(found).isEqualTo(bad.contains(index) ? nextGood(planned.get(b), i, bad) : index);
      }
    }

    Delivered dropped =
        deliver(Feed.of(groupWithBadRecords()).badRecords(BadRecordPolicy.DROP_BATCH));
    assertThat(dropped.batches())
        .isEqualTo(planned.stream()
            .filter(batch -> batch.stream().noneMatch(bad::contains))
            .toList());
    assertThat(dropped.statistics().droppedBatches())
        .isEqualTo(planned.size() - dropped.batches().size());

    assertThatThrownBy(() -> deliver(Feed.of(groupWithBadRecords())))
        .hasMessageContaining("no picture");
  }

  @Test
  void aListenerHearsOfAllBadRecordsBeforeTheNextBatch() {
    List<BadBatch> heard = new ArrayList<>();
    Delivered dropped = deliver(Feed.of(groupWithBadRecords())
        .badRecords(BadRecordPolicy.DROP_BATCH)
        .onBadBatch(heard::add));
    assertThat(heard).hasSize((int) dropped.statistics().droppedBatches());
    assertThat(heard).allMatch(BadBatch::isDropped);
    assertThat(heard.stream().mapToLong(batch -> batch.records().size()).sum()).isEqualTo(6);

    heard.clear();
    Delivered skipped = deliver(Feed.of(groupWithBadRecords())
        .badRecords(BadRecordPolicy.SKIP_RECORD)
        .onBadBatch(heard::add));
    assertThat(heard).noneMatch(BadBatch::isDropped);
    assertThat(heard.stream().flatMap(batch -> batch.records().stream()).toList())
        .isEqualTo(skipped.bad());
  }

  @Test
  void aRankDropsNoBatchWhoseRecordsAreAllBad() {
    FeedGroup group = group().batchSize(10).transform(List.of(SCORE), () -> (in, out, seed) -> {
      throw new IOException("no picture");
    });
    FeedBuilder builder = Feed.of(group).badRecords(BadRecordPolicy.SUBSTITUTE);
    try (Feed alone = builder.start()) {
      assertThat(alone.next()).isNull();
    }
    try (Feed rank = builder.rank(0, 2, Remainder.DROP).start()) {
      assertThatThrownBy(rank::next).hasMessageContaining("no picture");
    }
  }

  private static long nextGood(List<Long> batch, int from, Set<Long> bad) {
    int i = from;
    while (bad.contains(batch.get(i))) {
      i = (i + 1) % batch.size();
    }
    return batch.get(i);
  }

  @Test
  void valuesOfADamagedUnitAreFoundOneByOne() throws IOException {
    Damage.flipNearTheEnd(directory.resolve("data"));
    try (RecordDataset damaged = RecordDataset.open(directory.resolve("data").toString())) {
      FeedGroup group =
          FeedGroup.of(damaged).sampler(Samplers.sequential(RECORDS), 0).batchSize(50);
      List<BadRecord> bad = new ArrayList<>();
      int records = 0;
      try (Feed feed = Feed.of(group).badRecords(BadRecordPolicy.SKIP_RECORD).start()) {
        for (FeedBatch batch : feed) {
          try (batch) {
            FeedData.check(batch);
            records += batch.count();
            bad.addAll(batch.badRecords());
          }
        }
      }
      // The last unit begins at 256.
      assertThat(bad)
          .extracting(BadRecord::index)
          .containsExactlyElementsOf(LongStream.range(256, RECORDS).boxed().toList());
      assertThat(bad).allMatch(record -> record.reason().contains("checksum"));
      assertThat(records).isEqualTo(256);
    }
  }

  @Test
  void whatTheSystemRefusesEndsTheFeedUnderEachPolicy() {
    AtomicInteger refusals = new AtomicInteger();
    for (BadRecordPolicy policy : BadRecordPolicy.values()) {
      int before = refusals.get();
      Storage refusing = refusingChunks(LocalStorage.at(directory.resolve("data")), refusals);
      try (RecordDataset refused =
              RecordDataset.open(refusing, RecordDataset.ReadOptions.defaults());
          Feed feed = Feed.of(
                  FeedGroup.of(refused).sampler(Samplers.sequential(RECORDS), 0).batchSize(50))
              .badRecords(policy)
              .start()) {
        assertThatThrownBy(feed::next)
            .as("%s", policy)
            .isInstanceOf(StorageException.class)
            .hasMessageContaining("too many open files");
        assertThat(feed.statistics().badRecords()).as("%s", policy).isZero();
      }
      assertThat(refusals.get()).as("%s", policy).isGreaterThan(before);
    }
  }

  private static Storage refusingChunks(Storage storage, AtomicInteger refusals) {
    return (Storage) Proxy.newProxyInstance(
        Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (proxy, method, given) -> {
          if (method.getName().equals("open") && given[0].toString().endsWith(".zr")) {
            refusals.incrementAndGet();
            throw new StorageException(given[0].toString(), "too many open files");
          }
          try {
            return method.invoke(storage, given);
          } catch (InvocationTargetException e) {
            throw Objects.requireNonNull(e.getCause());
          }
        });
  }

  @Test
  void aResumeAmongBadRecordsRepeatsAndLosesNothing() {
    for (BadRecordPolicy policy : List.of(
        BadRecordPolicy.SKIP_RECORD, BadRecordPolicy.SUBSTITUTE, BadRecordPolicy.DROP_BATCH)) {
      List<List<Long>> all =
          deliver(Feed.of(groupWithBadRecords()).badRecords(policy)).batches();
      List<List<Long>> found = new ArrayList<>();
      FeedState state = null;
      boolean goesOn = true;
      while (goesOn) {
        FeedBuilder builder = Feed.of(groupWithBadRecords()).badRecords(policy);
        if (state != null) {
          builder.resume(state);
        }
        try (Feed feed = builder.start();
            FeedBatch batch = feed.next()) {
          goesOn = batch != null;
          if (batch != null) {
            found.add(LongStream.of(batch.indices()).boxed().toList());
            state = batch.next();
          }
        }
      }
      assertThat(found).isEqualTo(all);
    }
  }
}
