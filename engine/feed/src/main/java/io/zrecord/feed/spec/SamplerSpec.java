package io.zrecord.feed.spec;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import io.zrecord.sampler.SlidingSampler;
import io.zrecord.schema.RecordSchema;
import java.io.Serializable;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Says which sampler a dataset is read by, in a few hundred bytes whatever the dataset's length: a
 * name and parameters, which are the same in Java, Spark, Python and on the command line.
 * {@link Samplers} checks ranges, which depend on the dataset. Immutable.
 *
 * <pre>{@code
 * SamplerSpec spec = SamplerSpec.of("balanced", Map.of("labelsField", "label", "batchSize", 64));
 * FeedGroup group = FeedGroup.of(dataset).sampler(spec);
 * }</pre>
 *
 * @param name the name of the sampler
 * @param seed the seed of the order
 * @param numbers the sampler's own numbers that were given, and
 *     {@link SamplerParameter#NUM_SAMPLES}
 * @param field the field of weights or labels; empty if the sampler needs none
 */
public record SamplerSpec(
    SamplerName name, long seed, Map<SamplerParameter, Long> numbers, String field)
    implements Serializable {
  /** Seed that is used when none is given. */
  public static final long DEFAULT_SEED = 42;

  public SamplerSpec {
    numbers = Map.copyOf(numbers);
    for (SamplerParameter parameter : name.required()) {
      if (parameter.isField() ? field.isEmpty() : !numbers.containsKey(parameter)) {
        throw new IllegalArgumentException(
            "The sampler " + name + " needs " + parameter + "; give " + name.required());
      }
    }
  }

  /**
   * Makes a spec of names and values.
   *
   * @param sampler a {@link SamplerName}
   * @param parameters parameters of the order, by {@link SamplerParameter#text}; values are taken
   *     as texts
   * @throws IllegalArgumentException if there is no such sampler or parameter, a parameter is
   *     missing, or a parameter does not go with the sampler
   */
  public static SamplerSpec of(String sampler, Map<String, ?> parameters) {
    Map<SamplerParameter, String> texts = new EnumMap<>(SamplerParameter.class);
    parameters.forEach((text, value) -> {
      SamplerParameter parameter = SamplerParameter.of(text);
      if (parameter.isOfPart() || parameter == SamplerParameter.SAMPLER) {
        throw new IllegalArgumentException("Parameter " + text
            + " is not one of an order; say to the feed where it begins and which rank it is");
      }
      texts.put(parameter, String.valueOf(value));
    });
    texts.put(SamplerParameter.SAMPLER, sampler);
    return new SamplerArguments(texts, SamplerParameter::text).spec();
  }

  /**
   * Makes the sampler of a dataset's records. Reads the field of weights or labels, if there is
   * one, into 8 or 4 bytes of heap a record.
   *
   * @throws IllegalArgumentException if a number is out of range, or the field does not have a
   *     fitting number for each record
   */
  public Sampler sampler(RecordDataset dataset) {
    return cut(uncut(dataset));
  }

  /** Makes the sampler of a dataset's records, as {@link #sampler}, before {@link #cut}. */
  public Sampler uncut(RecordDataset dataset) {
    return make(dataset, dataset.length(), UnaryOperator.identity(), UnaryOperator.identity());
  }

  /**
   * Makes a sampler of some records of a dataset: this sampler orders the places of a list.
   *
   * @param indices the indices of the records; duplicates are allowed
   * @throws IllegalArgumentException if a number is out of range, or the field does not have a
   *     fitting number for each record
   */
  public Sampler sampler(RecordDataset dataset, long[] indices) {
    Sampler places = make(
        dataset,
        indices.length,
        all -> java.util.Arrays.stream(indices).mapToDouble(i -> all[(int) i]).toArray(),
        all -> java.util.Arrays.stream(indices).mapToInt(i -> all[(int) i]).toArray());
    return Samplers.list(indices, cut(places));
  }

  /**
   * Makes a sampler with the length of the real one without reading values: as if all records had
   * one weight and one label.
   *
   * @throws IllegalArgumentException if a number is out of range, or there is no such field of
   *     numbers
   */
  public Sampler outline(long length, RecordSchema schema) {
    if (!field.isEmpty()) {
      ScalarField.requireNumbers(schema.fields().get(schema.ordinal(field)));
    }
    return cut(
        switch (name) {
          case WEIGHTED -> Samplers.random(length, seed);
          case STRATIFIED ->
            Samplers.mixInProportion(List.of(Samplers.sequential(length)), batchSize(), seed);
          case BALANCED ->
            Samplers.mix(List.of(Samplers.sequential(length)), new double[] {1}, batchSize(), seed);
          default -> ofLength(length);
        });
  }

  /** Returns this spec without its length: equal for specs whose samplers differ in length only. */
  public SamplerSpec withoutNumSamples() {
    Map<SamplerParameter, Long> others = new TreeMap<>(numbers);
    others.remove(SamplerParameter.NUM_SAMPLES);
    return new SamplerSpec(name, seed, others, field);
  }

  /**
   * Cuts an epoch to {@link SamplerParameter#NUM_SAMPLES} positions. Without that number, a sliding
   * order goes once around, and other orders stay as they are.
   *
   * @param all what {@link #uncut} made
   * @throws IllegalArgumentException if an epoch has fewer positions
   */
  public Sampler cut(Sampler all) {
    Long count = numbers.get(SamplerParameter.NUM_SAMPLES);
    if (count == null) {
      return all instanceof SlidingSampler sliding ? sliding.onePass() : all;
    }
    if (count > all.length()) {
      throw new IllegalArgumentException(SamplerParameter.NUM_SAMPLES + " is " + count
          + ", but an epoch of " + all + " has " + all.length() + " positions; use 0 to "
          + all.length());
    }
    return all.take(count);
  }

  private Sampler make(
      RecordDataset dataset,
      long length,
      UnaryOperator<double[]> weightsOf,
      UnaryOperator<int[]> labelsOf) {
    return switch (name) {
      case WEIGHTED ->
        Samplers.weighted(weightsOf.apply(ScalarField.weights(dataset, field)), seed);
      case STRATIFIED ->
        Samplers.stratified(labelsOf.apply(ScalarField.labels(dataset, field)), batchSize(), seed);
      case BALANCED ->
        Samplers.balanced(labelsOf.apply(ScalarField.labels(dataset, field)), batchSize(), seed);
      default -> ofLength(length);
    };
  }

  /** Makes a sampler that needs nothing except the length. */
  private Sampler ofLength(long length) {
    return switch (name) {
      case SEQUENTIAL -> sequential(length);
      case SLIDING ->
        Samplers.sliding(length, number(SamplerParameter.WINDOW), number(SamplerParameter.STRIDE));
      case RANDOM -> Samplers.random(length, seed);
      case GLOBAL -> Samplers.global(length, number(SamplerParameter.BATCH_SIZE), seed);
      case SHUFFLE -> Samplers.shuffle(length, seed);
      case BLOCK_SHUFFLE ->
        Samplers.blockShuffle(
            length, number(SamplerParameter.BLOCK_LENGTH), number(SamplerParameter.MIXED), seed);
      case WEIGHTED, STRATIFIED, BALANCED ->
        throw new IllegalStateException(name + " needs a field");
    };
  }

  private Sampler sequential(long length) {
    long step = numbers.getOrDefault(SamplerParameter.STEP, 1L);
    long from = numbers.getOrDefault(SamplerParameter.FROM, step < 0 ? length - 1 : 0);
    long to = numbers.getOrDefault(SamplerParameter.TO, step < 0 ? -1 : length);
    Sampler order = Samplers.sequential(from, to, step);
    if (order.bound() > length) {
      throw new IllegalArgumentException("Cannot sample from " + from + " to " + to
          + ": there are " + length + " records, with indices from 0 to " + (length - 1)
          + "; use from and to within them");
    }
    return order;
  }

  private int batchSize() {
    long size = number(SamplerParameter.BATCH_SIZE);
    return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, size));
  }

  private long number(SamplerParameter parameter) {
    return Objects.requireNonNull(numbers.get(parameter));
  }

  /** Returns name and parameters as a user gave them, in a fixed order. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(name.toString()).append("(seed=").append(seed);
    new TreeMap<>(numbers)
        .forEach((parameter, value) ->
            text.append(", ").append(parameter).append('=').append(value));
    if (!field.isEmpty()) {
      text.append(name == SamplerName.WEIGHTED ? ", weightsField=" : ", labelsField=")
          .append(field);
    }
    return text.append(')').toString();
  }
}
