package io.zrecord.spark;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.RecordSchema;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * How a sampler of a whole dataset is made; a few hundred bytes, whatever its length. Ranges are checked where it is made, by {@link
 * Samplers}. Immutable.
 *
 * @param name which one
 * @param seed of its order
 * @param numbers values of those options that are its own numbers, by option
 * @param field the field of weights or labels; empty if it needs none
 */
record SamplerConf(SamplerName name, long seed, Map<String, Long> numbers, String field)
    implements Serializable {

  SamplerConf {
    numbers = Map.copyOf(numbers);
  }

  /** The sampler, for tasks: reads the field of weights or labels, if there is one. */
  Sampler of(RecordDataset dataset) {
    return switch (name) {
      case WEIGHTED -> Samplers.weighted(FieldNumbers.weights(dataset, field), seed);
      case STRATIFIED ->
        Samplers.stratified(FieldNumbers.labels(dataset, field), batchSize(), seed);
      case BALANCED -> Samplers.balanced(FieldNumbers.labels(dataset, field), batchSize(), seed);
      default -> ofIndices(dataset.length());
    };
  }

  /**
   * A sampler with the length of the real one, for the driver, which reads no values: as if all records had one weight and one label.
   *
   * @throws IllegalArgumentException if a number is out of range, or the field is not there or has no numbers
   */
  Sampler outline(long length, RecordSchema schema) {
    if (!field.isEmpty()) {
      FieldNumbers.requireNumeric(schema.fields().get(schema.ordinal(field)));
    }
    return switch (name) {
      case WEIGHTED -> Samplers.random(length, seed);
      case STRATIFIED ->
        Samplers.mixInProportion(List.of(Samplers.sequential(length)), batchSize(), seed);
      case BALANCED ->
        Samplers.mix(List.of(Samplers.sequential(length)), new double[] {1}, batchSize(), seed);
      default -> ofIndices(length);
    };
  }

  /** Those that need nothing but the length. */
  private Sampler ofIndices(long length) {
    return switch (name) {
      case SEQUENTIAL -> sequential(length);
      case SLIDING ->
        Samplers.sliding(length, number(ZRecordOptions.WINDOW), number(ZRecordOptions.STRIDE));
      case RANDOM -> Samplers.random(length, seed);
      case GLOBAL -> Samplers.global(length, number(ZRecordOptions.BATCH_SIZE), seed);
      case SHUFFLE -> Samplers.shuffle(length, seed);
      case BLOCK_SHUFFLE ->
        Samplers.blockShuffle(
            length, number(ZRecordOptions.BLOCK_LENGTH), number(ZRecordOptions.MIXED), seed);
      case WEIGHTED, STRATIFIED, BALANCED ->
        throw new IllegalStateException(name + " needs a field");
    };
  }

  private Sampler sequential(long length) {
    long step = numbers.getOrDefault(ZRecordOptions.STEP, 1L);
    long from = numbers.getOrDefault(ZRecordOptions.FROM, step < 0 ? length - 1 : 0);
    long to = numbers.getOrDefault(ZRecordOptions.TO, step < 0 ? -1 : length);
    Sampler order = Samplers.sequential(from, to, step);
    if (order.bound() > length) {
      throw new IllegalArgumentException("Cannot sample from " + from + " to " + to + ": there are "
          + length + " records, with indices from 0 to " + (length - 1));
    }
    return order;
  }

  private int batchSize() {
    long size = number(ZRecordOptions.BATCH_SIZE);
    return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, size));
  }

  private long number(String option) {
    return Objects.requireNonNull(numbers.get(option));
  }

  @Override
  public String toString() {
    return name + (field.isEmpty() ? "" : " by " + field) + ", seed " + seed;
  }
}
