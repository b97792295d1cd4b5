package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Transforms and collation. */
class FeedTransformTest extends TransformedFeed {
  private static Map<Long, Integer> seeds(FeedBuilder builder) {
    Map<Long, Integer> seeds = new HashMap<>();
    try (Feed feed = builder.start()) {
      for (FeedBatch batch : feed) {
        try (batch) {
          assertThat(batch.dimensions("score")).containsExactly(batch.count(), 2);
          for (int i = 0; i < batch.count(); i++) {
            ByteBuffer score = batch.value("score", i);
            assertThat(score.getFloat(0)).isEqualTo((float) batch.index(i));
            assertThat(score.getInt(4)).isEqualTo((int) batch.recordSeed(i));
            assertThat(StandardCharsets.UTF_8.decode(batch.value("text", i)).toString())
                .isEqualTo(batch.index(i) % 7 == 0 ? "" : "record");
            assertThat(batch.isAbsent("text", i)).isEqualTo(batch.index(i) % 7 == 0);
            assertThat(batch.value("image", i).get(0)).isEqualTo((byte) batch.index(i));
            seeds.put(batch.index(i), score.getInt(4));
          }
        }
      }
    }
    return seeds;
  }

  @Test
  void aTransformReplacesAndAddsFieldsWithSeedsThatNoThreadChanges() {
    Map<Long, Integer> one =
        seeds(Feed.of(group().transform(List.of(SCORE, TEXT), () -> FeedTransformTest::score))
            .loaderThreads(1));
    Map<Long, Integer> four = seeds(Feed.of(
            group().batchSize(7).transform(List.of(SCORE, TEXT), () -> FeedTransformTest::score))
        .loaderThreads(4));
    assertThat(one).hasSize(RECORDS).isEqualTo(four);
    assertThat(new HashSet<>(one.values())).hasSizeGreaterThan(RECORDS - 3);
  }

  @Test
  void eachLoaderHasATransformOfItsOwnWhichIsClosedAtItsEnd() {
    AtomicInteger made = new AtomicInteger();
    AtomicInteger closed = new AtomicInteger();
    try (Feed feed = Feed.of(group().transform(List.of(SCORE), () -> {
          made.incrementAndGet();
          return new RecordTransform() {
            @Override
            public void apply(RecordInput in, RecordOutput out, long seed) {
              out.value("score");
            }

            @Override
            public void close() {
              closed.incrementAndGet();
            }
          };
        }))
        .loaderThreads(3)
        .start()) {
      while (next(feed)) {}
      assertThat(made.get()).isEqualTo(3);
      assertThat(closed.get()).as("closed with the data at their end").isEqualTo(3);
    }
    assertThat(closed.get()).as("and not again").isEqualTo(3);
  }

  @Test
  void buffersThatATransformKeepsCannotChangeADeliveredBatch() {
    List<ByteBuffer> kept = new ArrayList<>();
    List<RecordInput> inputs = new ArrayList<>();
    List<RecordOutput> outputs = new ArrayList<>();
    FeedGroup group = group().transform(List.of(SCORE, TEXT), () -> (in, out, seed) -> {
      ByteBuffer score = out.value("score");
      ByteBuffer text = out.value("text", 4 + (int) in.index() % 3);
      score.putLong(0, in.index());
      text.putInt(0, (int) in.index());
      kept.addAll(List.of(score, text));
      assertThat(in.value("label").isReadOnly()).isTrue();
      inputs.add(in);
      outputs.add(out);
    });
    try (Feed feed = Feed.of(group.batchSize(100)).loaderThreads(1).depth(3).start()) {
      List<FeedBatch> batches = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        batches.add(Objects.requireNonNull(feed.next()));
      }
      assertThat(kept).hasSize(2 * RECORDS);
      for (ByteBuffer buffer : kept) {
        for (int at = 0; at < buffer.capacity(); at++) {
          buffer.put(at, (byte) -77);
        }
      }
      for (FeedBatch batch : batches) {
        for (int i = 0; i < batch.count(); i++) {
          assertThat(batch.value("score", i).getLong(0)).isEqualTo(batch.index(i));
          ByteBuffer text = batch.value("text", i);
          assertThat(text.remaining()).isEqualTo(4 + (int) batch.index(i) % 3);
          assertThat(text.getInt(0)).isEqualTo((int) batch.index(i));
          for (int at = 4; at < text.remaining(); at++) {
            assertThat(text.get(at)).isZero();
          }
        }
      }
      assertThatThrownBy(() -> outputs.get(0).value("score"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("the call of the transform is over");
      assertThatThrownBy(() -> outputs.get(0).put("score", ByteBuffer.allocate(8)))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> outputs.get(0).absent("text"))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> inputs.get(0).value("label"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("the call of the transform is over");
      batches.forEach(FeedBatch::close);
    }
  }

  @Test
  void aValueIsGivenOnceInWhicheverWay() {
    List<RecordTransform> twice = List.of(
        (in, out, seed) -> {
          out.value("score");
          out.put("score", ByteBuffer.allocate(8));
        },
        (in, out, seed) -> {
          out.put("score", ByteBuffer.allocate(8));
          out.value("score");
        },
        (in, out, seed) -> {
          out.absent("score");
          out.value("score");
        },
        (in, out, seed) -> {
          out.value("score");
          out.absent("score");
        });
    for (RecordTransform transform : twice) {
      try (Feed feed =
          Feed.of(group().transform(List.of(SCORE), () -> transform)).start()) {
        assertThatThrownBy(feed::next).rootCause().hasMessageContaining("already");
      }
    }
  }

  @Test
  void whatIsPutStartsAtThePositionOfItsBufferWhichStays() {
    ByteBuffer source = ByteBuffer.allocate(20);
    FeedGroup group = group().transform(List.of(SCORE), () -> (in, out, seed) -> {
      source.clear().putLong(4, in.index()).position(4).limit(12);
      out.put("score", source);
      assertThat(source.position()).isEqualTo(4);
    });
    try (Feed feed = Feed.of(group).loaderThreads(1).start();
        FeedBatch batch = Objects.requireNonNull(feed.next())) {
      for (int i = 0; i < batch.count(); i++) {
        assertThat(Long.reverseBytes(batch.value("score", i).getLong(0))).isEqualTo(batch.index(i));
      }
    }
  }

  @Test
  void aTransformThatForgetsAnOutputIsToldSo() {
    try (Feed feed = Feed.of(
            group().transform(List.of(SCORE, TEXT), () -> (in, out, seed) -> out.value("score")))
        .start()) {
      assertThatThrownBy(feed::next)
          .hasMessageContaining("index ")
          .rootCause()
          .hasMessageContaining("'text'");
    }
    try (Feed feed = Feed.of(group().transform(List.of(SCORE), () -> (in, out, seed) -> {
          out.value("score");
          out.value("score");
        }))
        .start()) {
      assertThatThrownBy(feed::next).rootCause().hasMessageContaining("already");
    }
  }

  @Test
  void valuesThatDifferInLengthArePaddedOrCut() {
    try (Feed feed = Feed.of(group()
            .collate("tokens", Collation.padTo(8).filledWith(-100))
            .collate("text", Collation.padToLongest()))
        .start()) {
      for (FeedBatch batch : feed) {
        try (batch) {
          assertThat(batch.dimensions("tokens")).containsExactly(batch.count(), 8);
          int longest = 0;
          for (int i = 0; i < batch.count(); i++) {
            long index = batch.index(i);
            longest = Math.max(longest, batch.lengthBytes("text", i));
            assertThat(batch.lengthBytes("tokens", i)).isEqualTo(4 * (int) (index % 6));
            for (int k = 0; k < 8; k++) {
              assertThat(batch.data("tokens").getInt(4 * (8 * i + k)))
                  .isEqualTo(k < index % 6 ? (int) index : -100);
            }
          }
          assertThat(batch.dimensions("text")).containsExactly(batch.count(), longest);
          for (int i = 0; i < batch.count(); i++) {
            String text = batch.index(i) % 7 == 0 ? "" : FeedData.text(batch.index(i));
            assertThat(StandardCharsets.UTF_8.decode(batch.value("text", i)).toString())
                .isEqualTo(text);
            for (int k = text.length(); k < longest; k++) {
              assertThat(batch.data("text").get(longest * i + k)).isZero();
            }
          }
          FeedBatch current = batch;
          assertThatThrownBy(() -> current.ends("text")).hasMessageContaining("padded");
        }
      }
    }
  }

  @Test
  void aValueThatIsTooLongIsBadUnlessItMayBeCut() {
    try (Feed feed = Feed.of(group().collate("tokens", Collation.padTo(4))).start()) {
      assertThatThrownBy(() -> {
            while (next(feed)) {}
          })
          .hasMessageContaining("5 steps")
          .hasMessageContaining("cut what is longer");
    }
    try (Feed feed = Feed.of(group().collate("tokens", Collation.cutOrPadTo(4))).start()) {
      for (FeedBatch batch : feed) {
        try (batch) {
          for (int i = 0; i < batch.count(); i++) {
            assertThat(batch.lengthBytes("tokens", i))
                .isEqualTo(4 * Math.min(4, (int) (batch.index(i) % 6)));
          }
        }
      }
    }
  }

  @Test
  void gapsHoldTheNearestNumber() {
    try (Feed feed = Feed.of(group().collate("tokens", Collation.padTo(8).filledWith(1e12)))
            .start();
        FeedBatch batch = feed.next()) {
      assertThat(batch.data("tokens").getInt(4 * 7)).isEqualTo(Integer.MAX_VALUE);
    }
    assertThatThrownBy(() ->
            Feed.of(group().collate("text", Collation.padTo(9).filledWith(1))).start())
        .hasMessageContaining("only 0");
  }

  @Test
  void manyUnfitValuesAreFoundInOnePass() {
    AtomicInteger calls = new AtomicInteger();
    FeedGroup group = group()
        .batchSize(RECORDS)
        .transform(List.of(SCORE), () -> (in, out, seed) -> {
          calls.incrementAndGet();
          out.value("score");
        })
        .collate("tokens", Collation.padTo(2));
    try (Feed feed = Feed.of(group).badRecords(BadRecordPolicy.SKIP_RECORD).start();
        FeedBatch batch = feed.next()) {
      assertThat(batch.count()).isEqualTo(RECORDS / 2);
      assertThat(batch.badRecords())
          .hasSize(RECORDS / 2)
          .allMatch(bad -> bad.field().equals("tokens") && bad.index() % 6 > 2);
    }
    assertThat(calls.get()).isEqualTo(RECORDS + RECORDS / 2);
  }

  @Test
  void outputsAreHeldAgainstTheirFields() {
    FieldSpec triples =
        new FieldSpec(1, "triples", ElementType.I32, Shape.of(-1, 3), Compression.RAW);
    try (Feed feed = Feed.of(
            group().transform(List.of(triples), () -> (in, out, seed) -> out.value("triples", 10)))
        .start()) {
      assertThatThrownBy(feed::next).hasMessageContaining("a multiple of 12");
    }
    assertThatThrownBy(() -> group().transform(List.of(SCORE, SCORE), () -> null))
        .hasMessageContaining("each once");
    try (Feed feed = Feed.of(group().transform(List.of(SCORE), () -> null)).start()) {
      assertThatThrownBy(feed::next).hasMessageContaining("gave null");
    }
  }
}
