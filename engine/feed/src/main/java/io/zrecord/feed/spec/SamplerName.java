package io.zrecord.feed.spec;

import static io.zrecord.feed.spec.SamplerParameter.BATCH_SIZE;
import static io.zrecord.feed.spec.SamplerParameter.BLOCK_LENGTH;
import static io.zrecord.feed.spec.SamplerParameter.FROM;
import static io.zrecord.feed.spec.SamplerParameter.LABELS_FIELD;
import static io.zrecord.feed.spec.SamplerParameter.MIXED;
import static io.zrecord.feed.spec.SamplerParameter.STEP;
import static io.zrecord.feed.spec.SamplerParameter.STRIDE;
import static io.zrecord.feed.spec.SamplerParameter.TO;
import static io.zrecord.feed.spec.SamplerParameter.WEIGHTS_FIELD;
import static io.zrecord.feed.spec.SamplerParameter.WINDOW;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Names the samplers that can be asked for by name, which are the names of methods of
 * {@link io.zrecord.sampler.Samplers}, with the parameters of each. Lists and mixes have no name
 * here: a list comes with indices, and a mix with other samplers.
 */
@SuppressWarnings("ImmutableEnumChecker") // The lists are.
public enum SamplerName {
  SEQUENTIAL("sequential", Epochs.END, List.of(), List.of(FROM, TO, STEP)),
  SLIDING("sliding", Epochs.END, List.of(WINDOW, STRIDE), List.of()),
  RANDOM("random", Epochs.GO_ON, List.of(), List.of()),
  GLOBAL("global", Epochs.GO_ON, List.of(BATCH_SIZE), List.of()),
  SHUFFLE("shuffle", Epochs.END, List.of(), List.of()),
  BLOCK_SHUFFLE("blockShuffle", Epochs.END, List.of(BLOCK_LENGTH, MIXED), List.of()),
  WEIGHTED("weighted", Epochs.GO_ON, List.of(WEIGHTS_FIELD), List.of()),
  STRATIFIED("stratified", Epochs.END, List.of(LABELS_FIELD, BATCH_SIZE), List.of()),
  BALANCED("balanced", Epochs.GO_ON, List.of(LABELS_FIELD, BATCH_SIZE), List.of());

  private enum Epochs {
    END,
    GO_ON
  }

  private final String text;
  private final Epochs epochs;
  private final List<SamplerParameter> required;
  private final List<SamplerParameter> optional;

  SamplerName(
      String text,
      Epochs epochs,
      List<SamplerParameter> required,
      List<SamplerParameter> optional) {
    this.text = text;
    this.epochs = epochs;
    this.required = required;
    this.optional = optional;
  }

  /**
   * Finds a sampler by its name, without regard to case.
   *
   * @throws IllegalArgumentException if there is no such sampler
   */
  public static SamplerName of(String name) {
    for (SamplerName known : values()) {
      if (known.text.equalsIgnoreCase(name.strip())) {
        return known;
      }
    }
    throw new IllegalArgumentException("There is no sampler '" + name + "'; use one of "
        + Arrays.stream(values()).map(SamplerName::toString).collect(Collectors.joining(", ")));
  }

  /** Returns the parameters without which the sampler cannot be made. */
  public List<SamplerParameter> required() {
    return required;
  }

  /** Returns whether the sampler takes a parameter. */
  public boolean takes(SamplerParameter parameter) {
    return parameter.isOfEverySampler()
        || required.contains(parameter)
        || optional.contains(parameter);
  }

  /** Returns all parameters that the sampler takes, its own first. */
  public List<SamplerParameter> parameters() {
    return Arrays.stream(SamplerParameter.values())
        .filter(this::takes)
        .filter(parameter -> parameter != SamplerParameter.SAMPLER)
        .sorted(java.util.Comparator.comparing(SamplerParameter::isOfEverySampler))
        .toList();
  }

  /**
   * Returns whether an epoch goes on without end if no {@link SamplerParameter#NUM_SAMPLES} ends
   * it.
   */
  public boolean isEndless() {
    return epochs == Epochs.GO_ON;
  }

  @Override
  public String toString() {
    return text;
  }
}
