package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Samplers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several groups in one stream, and passes of a validation between their batches. */
class FeedGroupsTest {
  @TempDir
  Path directory;

  private RecordDataset many;
  private RecordDataset few;

  @BeforeEach
  void write() {
    FeedData.write(directory.resolve("many"), 400, 0);
    FeedData.write(directory.resolve("few"), 100, 1_000);
    many = RecordDataset.open(directory.resolve("many").toString());
    few = RecordDataset.open(directory.resolve("few").toString());
  }

  @AfterEach
  void close() {
    many.close();
    few.close();
  }

  private FeedGroup group(RecordDataset dataset, String name) {
    return FeedGroup.of(dataset)
        .name(name)
        .sampler(Samplers.shuffle(dataset.length(), 1), 1)
        .batchSize(20);
  }

  private static List<String> names(FeedBuilder builder) {
    List<String> names = new ArrayList<>();
    try (Feed feed = builder.start()) {
      for (FeedBatch batch : feed) {
        try (batch) {
          FeedData.check(batch);
          names.add(batch.group());
        }
      }
    }
    return names;
  }

  @Test
  void groupsFollowEachOtherUnlessTheyAreInterleaved() {
    assertThat(names(Feed.of(group(many, "m"), group(few, "f"))))
        .isEqualTo(List.of(("m,".repeat(20) + "f,".repeat(5)).split(",")));
    List<String> mixed = names(Feed.of(group(many, "m"), group(few, "f")).interleave());
    assertThat(mixed).isEqualTo(List.of("m,f,m,m,m,".repeat(5).split(",")));
  }

  @Test
  void anEpochIsOnePassOverAllGroups() {
    try (Feed feed = Feed.of(group(many, "m"), group(few, "f"))
        .interleave()
        .stopBeforeEpoch(2)
        .start()) {
      assertThat(feed.batchesPerEpoch()).isEqualTo(25);
      List<Long> labels = FeedData.labels(feed, Integer.MAX_VALUE);
      for (int epoch = 0; epoch < 2; epoch++) {
        assertThat(Set.copyOf(labels.subList(500 * epoch, 500 * epoch + 500))).hasSize(500);
      }
      assertThat(labels.subList(0, 500)).isNotEqualTo(labels.subList(500, 1_000));
    }
  }

  @Test
  void aValidationIsTheSameInEveryPassWhateverItsInterval() {
    for (Validation validation : List.of(
        Validation.everyBatches(8, group(few, "v")), Validation.everyEpochs(1, group(few, "v")))) {
      List<List<Long>> passes = new ArrayList<>();
      List<Long> training = new ArrayList<>();
      long batchBefore = -1;
      try (Feed feed =
          Feed.of(group(many, "m")).validate(validation).stopBeforeEpoch(2).start()) {
        assertThat(feed.batchesPerValidation()).isEqualTo(5);
        for (FeedBatch batch : feed) {
          try (batch) {
            if (!batch.isValidation()) {
              training.addAll(FeedData.check(batch));
              batchBefore = -1;
              continue;
            }
            if (batch.batch() != batchBefore) {
              passes.add(new ArrayList<>());
              batchBefore = batch.batch();
            }
            passes.get(passes.size() - 1).addAll(FeedData.check(batch));
            passes.get(passes.size() - 1).add(batch.recordSeed(3));
          }
        }
      }
      int expected = validation.every() == Validation.Every.BATCHES ? 5 : 2;
      assertThat(passes).hasSize(expected);
      assertThat(Set.copyOf(passes)).hasSize(1);
      assertThat(passes.get(0)).hasSize(105);
      assertThat(training).hasSize(800);
    }
  }

  @Test
  void aBatchToStartAtMayLieBeyondItsEpoch() {
    List<String> all =
        names(Feed.of(group(many, "m"), group(few, "f")).interleave().stopBeforeEpoch(3));
    for (int start : new int[] {0, 3, 24, 25, 26, 49, 60}) {
      List<String> rest = names(Feed.of(group(many, "m"), group(few, "f"))
          .interleave()
          .startAt(0, start)
          .stopBeforeEpoch(3));
      assertThat(rest).as("from %d", start).isEqualTo(all.subList(start, all.size()));
    }
  }

  @Test
  void groupsWithDifferentFieldsShareTheirMemory() {
    FeedGroup labels = FeedGroup.of(many).name("labels").fields("label").batchSize(50);
    FeedGroup texts = FeedGroup.of(few).name("texts").fields("text", "image").batchSize(30);
    try (Feed feed = Feed.of(labels, texts).interleave().depth(2).start()) {
      Set<Set<String>> fields = new java.util.HashSet<>();
      for (FeedBatch batch : feed) {
        try (batch) {
          fields.add(
              batch.fields().stream().map(field -> field.name()).collect(Collectors.toSet()));
          for (int i = 0; i < batch.count(); i++) {
            if (batch.group().equals("labels")) {
              assertThat(batch.value("label", i).getLong(0)).isEqualTo(batch.index(i));
            } else {
              assertThat(batch.value("image", i).get(0)).isEqualTo((byte) batch.index(i));
            }
          }
        }
      }
      assertThat(fields).hasSize(2);
    }
  }
}
