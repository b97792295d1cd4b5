package io.zrecord.spark.options;

import io.zrecord.feed.spec.SamplerArguments;
import io.zrecord.feed.spec.SamplerName;
import io.zrecord.feed.spec.SamplerParameter;
import io.zrecord.feed.spec.SamplerSpec;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Maps the options of a read to a sampler. Refuses options that do not fit, unless they are
 * defaults of the session.
 */
public final class SamplerOptions {
  private static final List<SamplerParameter> OF_RANKS =
      List.of(SamplerParameter.RANK, SamplerParameter.WORLD_SIZE, SamplerParameter.REMAINDER);

  private final Optional<SamplerSpec> sampler;
  private final SamplerPart part;

  /** @throws IllegalArgumentException if options are missing, or do not go together */
  SamplerOptions(CaseInsensitiveStringMap options) {
    SamplerArguments given = given(options);
    this.part = part(given);
    if (!given.has(SamplerParameter.SAMPLER)) {
      this.sampler = Optional.empty();
      return;
    }
    if (SessionDefaults.removedFrom(options).containsKey(ZRecordOptions.INDICES)) {
      throw new IllegalArgumentException("Option " + ZRecordOptions.INDICES
          + " does not go with the option sampler; use one of them");
    }
    this.sampler = Optional.of(given.endingSpec());
    if (OF_RANKS.stream().anyMatch(given::has)) {
      given.require(OF_RANKS.subList(0, 2), "the share of one of the ranks");
    }
  }

  /** Leaves out the session's defaults for samplers of other names. */
  private static SamplerArguments given(CaseInsensitiveStringMap options) {
    Map<SamplerParameter, String> texts = new EnumMap<>(SamplerParameter.class);
    CaseInsensitiveStringMap own = SessionDefaults.removedFrom(options);
    String name = options.get(SamplerParameter.SAMPLER.text());
    for (SamplerParameter parameter : SamplerParameter.values()) {
      String option = parameter.text();
      if (!options.containsKey(option)) {
        continue;
      }
      if (name == null && own.containsKey(option)) {
        throw new IllegalArgumentException(
            "Option " + option + " goes with the option sampler only; add it, or leave this out");
      }
      boolean fits = name != null
          && (parameter.equals(SamplerParameter.SAMPLER)
              || own.containsKey(option)
              || SamplerName.of(name).takes(parameter));
      if (fits) {
        texts.put(parameter, options.get(option));
      }
    }
    return new SamplerArguments(texts, SamplerParameter::text);
  }

  private static SamplerPart part(SamplerArguments given) {
    return new SamplerPart(
        given.number(SamplerParameter.EPOCH, 0),
        given.number(SamplerParameter.START_POSITION, 0),
        given.number(SamplerParameter.RANK, 0),
        given.number(SamplerParameter.WORLD_SIZE, 1),
        given.remainder());
  }

  /** Returns the sampler asked for; empty if there is none. */
  public Optional<SamplerSpec> sampler() {
    return sampler;
  }

  /** Returns the part of the sampler to read. */
  public SamplerPart part() {
    return part;
  }
}
