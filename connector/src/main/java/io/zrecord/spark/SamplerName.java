package io.zrecord.spark;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The samplers that an option can ask for, by the names of {@link io.zrecord.sampler.Samplers}, and the options of each. */
@SuppressWarnings("ImmutableEnumChecker") // The lists are.
enum SamplerName {
  SEQUENTIAL(
      "sequential",
      List.of(),
      List.of(ZRecordOptions.FROM, ZRecordOptions.TO, ZRecordOptions.STEP)),
  SLIDING("sliding", List.of(ZRecordOptions.WINDOW, ZRecordOptions.STRIDE)),
  RANDOM("random", List.of(ZRecordOptions.NUM_SAMPLES)),
  GLOBAL("global", List.of(ZRecordOptions.BATCH_SIZE, ZRecordOptions.NUM_SAMPLES)),
  SHUFFLE("shuffle", List.of()),
  BLOCK_SHUFFLE("blockShuffle", List.of(ZRecordOptions.BLOCK_LENGTH, ZRecordOptions.MIXED)),
  WEIGHTED("weighted", List.of(ZRecordOptions.WEIGHTS_FIELD, ZRecordOptions.NUM_SAMPLES)),
  STRATIFIED("stratified", List.of(ZRecordOptions.LABELS_FIELD, ZRecordOptions.BATCH_SIZE)),
  BALANCED(
      "balanced",
      List.of(ZRecordOptions.LABELS_FIELD, ZRecordOptions.BATCH_SIZE, ZRecordOptions.NUM_SAMPLES));

  private final String text;
  private final List<String> required;
  private final List<String> optional;

  SamplerName(String text, List<String> required) {
    this(text, required, List.of());
  }

  SamplerName(String text, List<String> required, List<String> optional) {
    this.text = text;
    this.required = required;
    this.optional = optional;
  }

  /**
   * The sampler of a name, without regard to case.
   *
   * @throws IllegalArgumentException if there is none
   */
  static SamplerName of(String name) {
    for (SamplerName known : values()) {
      if (known.text.equalsIgnoreCase(name.strip())) {
        return known;
      }
    }
    throw new IllegalArgumentException("use one of "
        + Arrays.stream(values()).map(SamplerName::toString).collect(Collectors.joining(", ")));
  }

  /** Options without which it cannot be made, or would not end. */
  List<String> required() {
    return required;
  }

  /** Options that say what it is, other than those which every sampler takes. */
  List<String> own() {
    return Stream.concat(required.stream(), optional.stream())
        .filter(option -> !ZRecordOptions.OF_EVERY_SAMPLER.contains(option))
        .toList();
  }

  /** All options that go with it. */
  List<String> options() {
    return Stream.concat(own().stream(), ZRecordOptions.OF_EVERY_SAMPLER.stream())
        .toList();
  }

  @Override
  public String toString() {
    return text;
  }
}
