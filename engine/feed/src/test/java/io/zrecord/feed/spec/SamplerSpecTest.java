package io.zrecord.feed.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.feed.Feed;
import io.zrecord.feed.FeedBatch;
import io.zrecord.feed.FeedGroup;
import io.zrecord.feed.FeedState;
import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A name and parameters make the sampler that they name, or say what is wrong. */
class SamplerSpecTest {
  private static final int RECORDS = 500;

  @TempDir
  Path directory;

  private RecordDataset dataset;

  @BeforeEach
  void write() {
    RecordSchema schema = RecordSchema.builder()
        .field("weight", ElementType.F64)
        .field("label", ElementType.I8)
        .field("text", ElementType.UTF8)
        .build();
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(
        directory.resolve("data").toString(), schema, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        records.set("weight", weight(i)).set("label", (byte) label(i)).endRecord();
      }
      writer.commit();
    }
    dataset = RecordDataset.open(directory.resolve("data").toString());
  }

  @AfterEach
  void close() {
    dataset.close();
  }

  private static double weight(long record) {
    return record % 7 / 2.0;
  }

  private static int label(long record) {
    return record % 10 == 0 ? -5 : (int) (record % 3);
  }

  private static double[] weights(long... records) {
    return Arrays.stream(records).mapToDouble(SamplerSpecTest::weight).toArray();
  }

  private static int[] labels(long... records) {
    return Arrays.stream(records).mapToInt(SamplerSpecTest::label).toArray();
  }

  private static Map<SamplerSpec, Sampler> samplersOf(long... records) {
    long n = records.length;
    Map<SamplerSpec, Sampler> samplers = new LinkedHashMap<>();
    samplers.put(SamplerSpec.of("sequential", Map.of()), Samplers.sequential(n));
    samplers.put(
        SamplerSpec.of("sequential", Map.of("from", 10, "to", 90, "step", 7)),
        Samplers.sequential(10, 90, 7));
    samplers.put(
        SamplerSpec.of("sequential", Map.of("step", -1)), Samplers.sequential(n - 1, -1, -1));
    samplers.put(
        SamplerSpec.of("sliding", Map.of("window", 16, "stride", 5)),
        Samplers.sliding(n, 16, 5).onePass());
    samplers.put(
        SamplerSpec.of("sliding", Map.of("window", 16, "stride", 5, "numSamples", 9_000)),
        Samplers.sliding(n, 16, 5).take(9_000));
    samplers.put(SamplerSpec.of("random", Map.of("seed", 7)), Samplers.random(n, 7));
    samplers.put(
        SamplerSpec.of("Global", Map.of("batchSize", 9, "seed", "7")), Samplers.global(n, 9, 7));
    samplers.put(SamplerSpec.of("shuffle", Map.of()), Samplers.shuffle(n, 42));
    samplers.put(
        SamplerSpec.of("shuffle", Map.of("numSamples", 50)),
        Samplers.shuffle(n, 42).take(50));
    samplers.put(
        SamplerSpec.of("blockShuffle", Map.of("blockLength", 8, "mixed", 2)),
        Samplers.blockShuffle(n, 8, 2, 42));
    samplers.put(
        SamplerSpec.of("weighted", Map.of("weightsField", "weight")),
        Samplers.weighted(weights(records), 42));
    samplers.put(
        SamplerSpec.of("stratified", Map.of("labelsField", "label", "batchSize", 8)),
        Samplers.stratified(labels(records), 8, 42));
    samplers.put(
        SamplerSpec.of("balanced", Map.of("labelsField", "label", "batchSize", 8)),
        Samplers.balanced(labels(records), 8, 42));
    return samplers;
  }

  private static List<Long> start(Sampler sampler) {
    long[] indices = new long[(int) Math.min(sampler.length(), 400)];
    sampler.indices(1, 0, indices, 0, indices.length);
    return Arrays.stream(indices).boxed().toList();
  }

  @Test
  void specsMakeTheSamplersOfTheirName() {
    long[] all = LongStream.range(0, RECORDS).toArray();
    samplersOf(all).forEach((spec, expected) -> {
      Sampler made = spec.sampler(dataset);
      assertThat(made.length()).as("%s", spec).isEqualTo(expected.length());
      assertThat(start(made)).as("%s", spec).isEqualTo(start(expected));
      assertThat(spec.outline(RECORDS, dataset.schema()).length())
          .as("%s", spec)
          .isEqualTo(expected.length());
      Sampler uncut = spec.withoutNumSamples().uncut(dataset);
      assertThat(start(spec.cut(uncut))).as("%s", spec).isEqualTo(start(expected));
    });
  }

  @Test
  void specsOrderSomeRecordsByTheirPlacesInTheList() {
    long[] some = LongStream.range(0, 100).map(i -> 499 - 3 * i).toArray();
    samplersOf(some)
        .forEach((spec, places) -> assertThat(start(spec.sampler(dataset, some)))
            .as("%s", spec)
            .isEqualTo(start(Samplers.list(some, places))));
  }

  @Test
  void namesAreThoseOfTheMethodsThatMakeSamplers() {
    Set<String> methods = Stream.of(Samplers.class.getMethods())
        .filter(method -> Sampler.class.isAssignableFrom(method.getReturnType()))
        .map(Method::getName)
        .collect(Collectors.toSet());
    Set<String> names =
        Stream.of(SamplerName.values()).map(SamplerName::toString).collect(Collectors.toSet());
    methods.removeAll(Set.of("list", "mix", "mixInProportion"));
    assertThat(methods).isEqualTo(names);
  }

  @Test
  void everyParameterHasOneNameInThreeSpellings() {
    for (SamplerParameter parameter : SamplerParameter.values()) {
      String kebab = parameter.text().replaceAll("[A-Z]", "-$0").toLowerCase(Locale.ROOT);
      assertThat(parameter.flag()).isEqualTo("--" + kebab);
      assertThat(parameter.keyword().replaceAll("_$", "")).isEqualTo(kebab.replace('-', '_'));
      assertThat(Stream.of(SamplerName.values()).anyMatch(name -> name.takes(parameter)))
          .isTrue();
    }
  }

  @Test
  void specsAreSentAndCompared() throws Exception {
    SamplerSpec spec = SamplerSpec.of("blockShuffle", Map.of("mixed", 2, "blockLength", 100));
    assertThat(spec).hasToString("blockShuffle(seed=42, blockLength=100, mixed=2)");
    assertThat(SamplerSpec.of("weighted", Map.of("weightsField", "w", "numSamples", 5)))
        .hasToString("weighted(seed=42, numSamples=5, weightsField=w)");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(spec);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      assertThat(in.readObject()).isEqualTo(spec);
    }
  }

  @Test
  void whatDoesNotFitIsRefusedWithARemedy() {
    refused("shufle", Map.of(), "'shufle'", "use one of sequential, sliding, random");
    refused("shuffle", Map.of("draw", 3), "'draw'", "use one of sampler, seed");
    refused("shuffle", Map.of("rank", 3), "rank", "say to the feed");
    refused(
        "shuffle",
        Map.of("window", 3, "batchSize", 1),
        "window, batchSize do not go with the sampler shuffle",
        "It takes seed");
    refused(
        "balanced", Map.of("labelsField", "label"), "needs labelsField, batchSize; add batchSize");
    refused("shuffle", Map.of("seed", "x"), "seed has the value 'x'; use a whole number");
    refused("shuffle", Map.of("numSamples", -1), "'-1'", "from 0 on");
    refused("shuffle", Map.of("numSamples", 501), "numSamples is 501", "use 0 to 500");
    refused("sequential", Map.of("to", 501), "501", "0 to 499");
    refused("sliding", Map.of("window", 501, "stride", 1), "window is 501", "[1, 500]");
    refused("weighted", Map.of("weightsField", "text"), "'text' of type utf8");
    refused("weighted", Map.of("weightsField", "no"), "no field 'no'");
    refused(
        "stratified", Map.of("labelsField", "weight", "batchSize", 3), "record 1 has 0.5", "whole");
    assertThatThrownBy(() -> new SamplerSpec(SamplerName.GLOBAL, 1, Map.of(), ""))
        .hasMessageContaining("needs batchSize");
  }

  private void refused(String sampler, Map<String, ?> parameters, String... parts) {
    assertThatThrownBy(() -> SamplerSpec.of(sampler, parameters).sampler(dataset))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(parts);
  }

  @Test
  void numbersOfEveryTypeAreRead() {
    RecordSchema schema = RecordSchema.builder()
        .field("flag", ElementType.BOOL)
        .field("u64", ElementType.U64)
        .field("f16", ElementType.F16)
        .field("bf16", ElementType.BF16)
        .field("price", ElementType.decimal(30, 2))
        .build();
    Path path = directory.resolve("numbers");
    short[] halves = {0x3c00, (short) 0xc500, 0x0001, 0x7bff};
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), schema, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < halves.length; i++) {
        byte[] price = new byte[16];
        Arrays.fill(price, (byte) (i % 2 == 0 ? 0 : -1));
        price[0] = (byte) (100 + i);
        records
            .set("flag", i % 2 == 1)
            .set(
                "u64",
                ByteBuffer.allocate(8)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(i - 1L)
                    .array())
            .set("f16", new byte[] {(byte) halves[i], (byte) (halves[i] >> 8)})
            .set("bf16", new byte[] {(byte) 0x80, (byte) (0x3f | (i << 7))})
            .set("price", price)
            .endRecord();
      }
      writer.commit();
    }
    try (RecordDataset numbers = RecordDataset.open(path.toString())) {
      assertThat(ScalarField.weights(numbers, "flag")).containsExactly(0, 1, 0, 1);
      assertThat(ScalarField.weights(numbers, "u64")).containsExactly(0x1p64, 0, 1, 2);
      assertThat(ScalarField.weights(numbers, "f16")).containsExactly(1, -5, 0x1p-24, 65504);
      assertThat(ScalarField.weights(numbers, "bf16")).containsExactly(1, -1, 1, -1);
      assertThat(ScalarField.weights(numbers, "price")).containsExactly(1, -1.55, 1.02, -1.53);
      assertThatThrownBy(() -> ScalarField.labels(numbers, "u64")).hasMessageContaining("record 0");
    }
  }

  @Test
  void aFeedIsNotResumedInTheOrderOfAnotherSampler() {
    FeedGroup stopped = FeedGroup.of(dataset)
        .fields("label")
        .sampler(SamplerSpec.of("stratified", Map.of("labelsField", "label", "batchSize", 10)));
    FeedState state;
    try (Feed feed = Feed.of(stopped).start();
        FeedBatch batch = feed.next()) {
      state = FeedState.fromJson(batch.next().toJson());
    }
    // Whoever makes the same order may go on.
    int[] labels = labels(LongStream.range(0, RECORDS).toArray());
    for (Sampler same : List.of(
        Samplers.stratified(labels, 10, 42), Samplers.stratified(labels, 10, 42).skip(0))) {
      Feed.of(FeedGroup.of(dataset).sampler(same, 42)).resume(state).start().close();
    }
    for (Sampler other : List.of(
        Samplers.shuffle(RECORDS, 42),
        Samplers.stratified(labels, 11, 42),
        Samplers.balanced(labels, 10, 42),
        Samplers.stratified(labels, 10, 42).take(499))) {
      assertThatThrownBy(() ->
              Feed.of(FeedGroup.of(dataset).sampler(other, 42)).resume(state).start())
          .as("%s", other)
          .hasMessageContainingAll(
              "in the order of " + other, "that of stratified(seed=42, batchSize=10, labelsField");
    }
  }

  @Test
  void aFeedStartsAtAPosition() {
    Sampler shuffle = Samplers.shuffle(RECORDS, 42);
    FeedGroup group = FeedGroup.of(dataset).fields("label").batchSize(10);
    try (Feed feed = Feed.of(group)
            .rank(1, 2, Remainder.DROP)
            .startAtPosition(3, 100)
            .stopBeforeEpoch(4)
            .start();
        FeedBatch batch = feed.next()) {
      assertThat(batch.epoch()).isEqualTo(3);
      assertThat(batch.batch()).isEqualTo(3 * 25 + 5);
      assertThat(batch.index(0)).isEqualTo(shuffle.index(3, 101));
      assertThat(batch.next().groups().get(0).position()).isEqualTo(120);
    }
    try (Feed feed =
            Feed.of(group).startAtPosition(0, RECORDS).stopBeforeEpoch(2).start();
        FeedBatch batch = feed.next()) {
      assertThat(batch.epoch()).isEqualTo(1);
      assertThat(batch.index(0)).isEqualTo(shuffle.index(1, 0));
    }
    assertThatThrownBy(() -> Feed.of(group).startAtPosition(0, RECORDS + 1).start())
        .hasMessageContaining("0 to 500");
    FeedGroup second = FeedGroup.of(dataset).name("second");
    assertThatThrownBy(() -> Feed.of(group, second).startAtPosition(0, 1).start())
        .hasMessageContaining("say startAt");
  }
}
