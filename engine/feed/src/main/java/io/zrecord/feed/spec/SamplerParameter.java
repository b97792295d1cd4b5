package io.zrecord.feed.spec;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Names the parameters of samplers. Spark's options ({@link #text}), the flags of the command line
 * ({@link #flag}) and the keywords of Python ({@link #keyword}) are made from this one list.
 * {@link SamplerName} says which parameters a sampler takes.
 */
public enum SamplerParameter {
  /** The name of a {@link SamplerName}. */
  SAMPLER("sampler"),
  /** The seed of the order. */
  SEED("seed"),
  /** The epoch that is read, or the first one. */
  EPOCH("epoch", 0),
  /** The length of an epoch of all ranks together. */
  NUM_SAMPLES("numSamples", 0),
  /** The position of the first epoch before which nothing is read. */
  START_POSITION("startPosition", 0),
  /** The process that reads, from 0. */
  RANK("rank", 0),
  /** The number of processes that share the order. */
  WORLD_SIZE("worldSize", 1),
  /** The name of a {@link io.zrecord.sampler.Remainder}. */
  REMAINDER("remainder"),
  /** The first index of a sequence. */
  FROM("from"),
  /** The index before which a sequence ends. */
  TO("to"),
  /** The distance between two indices of a sequence. */
  STEP("step"),
  /** The number of records in a window. */
  WINDOW("window"),
  /** The distance between two windows. */
  STRIDE("stride"),
  /** The number of records in a block. */
  BLOCK_LENGTH("blockLength"),
  /** The number of blocks that are shuffled as one. */
  MIXED("mixed"),
  /** The number of records that belong together in the order. */
  BATCH_SIZE("batchSize"),
  /** The field of the weights. */
  WEIGHTS_FIELD("weightsField"),
  /** The field of the labels. */
  LABELS_FIELD("labelsField");

  private final String text;
  private final long least;

  SamplerParameter(String text) {
    this(text, Long.MIN_VALUE);
  }

  SamplerParameter(String text, long least) {
    this.text = text;
    this.least = least;
  }

  /** Returns the name in Java and Spark, such as {@code batchSize}. */
  public String text() {
    return text;
  }

  /** Returns the name on the command line, such as {@code --batch-size}. */
  public String flag() {
    return "--" + name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Returns the name in Python, such as {@code batch_size}; {@code from_} for {@code from}, which
   * is a word of Python.
   */
  public String keyword() {
    return this == FROM ? "from_" : name().toLowerCase(Locale.ROOT);
  }

  /** Returns the lowest number that the parameter can have for any dataset. */
  long least() {
    return least;
  }

  /** Returns whether the parameter names a field. */
  boolean isField() {
    return this == WEIGHTS_FIELD || this == LABELS_FIELD;
  }

  /**
   * Returns whether the parameter says which records of an order are read, and by which process;
   * the order is the same for all its values.
   */
  boolean isOfPart() {
    return this == EPOCH
        || this == START_POSITION
        || this == RANK
        || this == WORLD_SIZE
        || this == REMAINDER;
  }

  /** Returns whether every sampler takes the parameter. */
  boolean isOfEverySampler() {
    return this == SAMPLER || this == SEED || this == NUM_SAMPLES || isOfPart();
  }

  /**
   * Finds a parameter by its name in Java and Spark.
   *
   * @throws IllegalArgumentException if there is no such parameter
   */
  static SamplerParameter of(String text) {
    for (SamplerParameter known : values()) {
      if (known.text.equals(text)) {
        return known;
      }
    }
    throw new IllegalArgumentException("Samplers have no parameter '" + text + "'; use one of "
        + Arrays.stream(values()).map(SamplerParameter::text).collect(Collectors.joining(", ")));
  }

  @Override
  public String toString() {
    return text;
  }
}
