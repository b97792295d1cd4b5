package io.zrecord.feed.spec;

import io.zrecord.sampler.Remainder;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Reads the values of samplers' parameters from the texts that a user gave, and names parameters in
 * messages as that user spells them. Errors are {@link IllegalArgumentException}s. Immutable.
 */
public final class SamplerArguments {
  private final Map<SamplerParameter, String> texts;
  private final Function<SamplerParameter, String> spelling;

  /**
   * Takes the texts that a user gave.
   *
   * @param texts by parameter
   * @param spelling the name of a parameter in messages, such as {@link SamplerParameter#flag}
   */
  public SamplerArguments(
      Map<SamplerParameter, String> texts, Function<SamplerParameter, String> spelling) {
    this.texts = new EnumMap<>(SamplerParameter.class);
    this.texts.putAll(texts);
    this.spelling = spelling;
  }

  /**
   * Makes the sampler that was asked for; a shuffle if none was asked for.
   *
   * @throws IllegalArgumentException if a parameter is missing, does not fit, or is no number
   */
  public SamplerSpec spec() {
    SamplerName name = name();
    requireFitting(name);
    require(name.required(), "the sampler " + name);
    return make(name);
  }

  /**
   * Makes the sampler that was asked for, which must have an end.
   *
   * @throws IllegalArgumentException if a parameter is missing, does not fit, or is no number
   */
  public SamplerSpec endingSpec() {
    SamplerName name = name();
    requireFitting(name);
    List<SamplerParameter> required = new java.util.ArrayList<>(name.required());
    if (name.isEndless()) {
      required.add(SamplerParameter.NUM_SAMPLES);
    }
    require(required, "the sampler " + name);
    return make(name);
  }

  private SamplerName name() {
    String text = texts.get(SamplerParameter.SAMPLER);
    if (text == null) {
      return SamplerName.SHUFFLE;
    }
    try {
      return SamplerName.of(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          spelling.apply(SamplerParameter.SAMPLER) + ": " + e.getMessage(), e);
    }
  }

  private SamplerSpec make(SamplerName name) {
    Map<SamplerParameter, Long> numbers = new EnumMap<>(SamplerParameter.class);
    String field = "";
    for (SamplerParameter parameter : texts.keySet()) {
      if (parameter.isField()) {
        field = text(parameter);
      } else if (parameter == SamplerParameter.NUM_SAMPLES || !parameter.isOfEverySampler()) {
        numbers.put(parameter, number(parameter, 0));
      }
    }
    return new SamplerSpec(
        name, number(SamplerParameter.SEED, SamplerSpec.DEFAULT_SEED), numbers, field);
  }

  private void requireFitting(SamplerName name) {
    List<SamplerParameter> others =
        texts.keySet().stream().filter(parameter -> !name.takes(parameter)).toList();
    if (!others.isEmpty()) {
      throw new IllegalArgumentException(spell(others)
          + (others.size() == 1 ? " does" : " do") + " not go with the sampler "
          + name + "; leave out what it does not take, or choose another. It takes "
          + spell(name.parameters()));
    }
  }

  /**
   * Requires parameters to be given.
   *
   * @param parameters all of them
   * @param what needs them
   * @throws IllegalArgumentException if one is missing
   */
  public void require(List<SamplerParameter> parameters, String what) {
    List<SamplerParameter> missing =
        parameters.stream().filter(parameter -> !has(parameter)).toList();
    if (!missing.isEmpty()) {
      throw new IllegalArgumentException("Parameters are missing: " + what + " needs "
          + spell(parameters) + "; add " + spell(missing));
    }
  }

  private String spell(List<SamplerParameter> parameters) {
    return parameters.stream().map(spelling).collect(Collectors.joining(", "));
  }

  /**
   * Returns whether the sampler that was asked for takes a parameter.
   *
   * @throws IllegalArgumentException if there is no such sampler
   */
  public boolean takes(SamplerParameter parameter) {
    return name().takes(parameter);
  }

  /** Returns whether a value was given. */
  public boolean has(SamplerParameter parameter) {
    return texts.containsKey(parameter);
  }

  /**
   * Reads a number.
   *
   * @param otherwise the number if none was given
   * @throws IllegalArgumentException if the text is no whole number, or below the parameter's least
   */
  public long number(SamplerParameter parameter, long otherwise) {
    if (!has(parameter)) {
      return otherwise;
    }
    try {
      long number = Long.parseLong(text(parameter).strip());
      if (number >= parameter.least()) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw wrong(
        parameter,
        "use a whole number"
            + (parameter.least() == Long.MIN_VALUE ? "" : " from " + parameter.least() + " on"));
  }

  /**
   * Reads what ranks do with the last positions; {@link Remainder#DROP} if nothing was given.
   *
   * @throws IllegalArgumentException if there is no such remainder
   */
  public Remainder remainder() {
    if (!has(SamplerParameter.REMAINDER)) {
      return Remainder.DROP;
    }
    for (Remainder known : Remainder.values()) {
      if (known.name().equalsIgnoreCase(text(SamplerParameter.REMAINDER).strip())) {
        return known;
      }
    }
    throw wrong(
        SamplerParameter.REMAINDER,
        "use one of " + Arrays.toString(Remainder.values()).toLowerCase(Locale.ROOT));
  }

  private String text(SamplerParameter parameter) {
    return java.util.Objects.requireNonNull(texts.get(parameter));
  }

  private IllegalArgumentException wrong(SamplerParameter parameter, String remedy) {
    return new IllegalArgumentException(
        spelling.apply(parameter) + " has the value '" + text(parameter) + "'; " + remedy);
  }
}
