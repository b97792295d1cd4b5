package io.zrecord.spark;

import io.zrecord.sampler.Remainder;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The options of a read that are about its sampler. Those that do not fit it are refused, unless they are defaults of the session. */
final class SamplerOptions {
  /** That of feeds. */
  private static final long DEFAULT_SEED = 42;

  private final CaseInsensitiveStringMap options;
  private final Optional<SamplerName> name;

  /** @throws IllegalArgumentException if options are missing, or do not go together */
  SamplerOptions(CaseInsensitiveStringMap options) {
    this.options = options;
    String text = options.get(ZRecordOptions.SAMPLER);
    this.name = text == null
        ? Optional.empty()
        : Optional.of(WriteConf.parse(ZRecordOptions.SAMPLER, text, SamplerName::of));
    if (name.isEmpty()) {
      refuse(ZRecordOptions.OF_SAMPLERS, "goes with the option sampler only");
      return;
    }
    List<String> fitting = name.get().options();
    refuse(
        ZRecordOptions.OF_SAMPLERS.stream()
            .filter(key -> !fitting.contains(key))
            .toList(),
        "does not go with the sampler " + name.get() + ", whose options are "
            + String.join(", ", fitting));
    refuse(List.of(ZRecordOptions.INDICES), "does not go with the option sampler; use one of them");
    require(name.get().required(), "the sampler " + name.get());
    if (ZRecordOptions.OF_RANKS.stream().anyMatch(options::containsKey)) {
      require(
          List.of(ZRecordOptions.RANK, ZRecordOptions.WORLD_SIZE), "the share of one of the ranks");
    }
  }

  private void refuse(Collection<String> keys, String reason) {
    for (String key : keys) {
      if (options.containsKey(key) && !ZRecordOptions.isSessionDefault(key)) {
        throw new IllegalArgumentException("Option " + key + " " + reason);
      }
    }
  }

  private void require(List<String> keys, String what) {
    List<String> missing =
        keys.stream().filter(key -> !options.containsKey(key)).toList();
    if (!missing.isEmpty()) {
      throw new IllegalArgumentException("Options are missing: " + what + " needs "
          + String.join(", ", keys) + "; add " + String.join(", ", missing));
    }
  }

  /** The sampler asked for; empty if there is none. */
  Optional<SamplerConf> sampler() {
    return name.map(this::sampler);
  }

  private SamplerConf sampler(SamplerName known) {
    Map<String, Long> numbers = new HashMap<>();
    String field = "";
    for (String key : known.own()) {
      if (key.equals(ZRecordOptions.WEIGHTS_FIELD) || key.equals(ZRecordOptions.LABELS_FIELD)) {
        field = options.getOrDefault(key, "");
      } else if (options.containsKey(key)) {
        numbers.put(key, number(key, 0, Long.MIN_VALUE));
      }
    }
    return new SamplerConf(
        known, number(ZRecordOptions.SEED, DEFAULT_SEED, Long.MIN_VALUE), numbers, field);
  }

  /** What is read of it. */
  SamplerPart part() {
    return new SamplerPart(
        number(ZRecordOptions.EPOCH, 0, 0),
        number(ZRecordOptions.NUM_SAMPLES, -1, 0),
        number(ZRecordOptions.START_POSITION, 0, 0),
        number(ZRecordOptions.RANK, 0, 0),
        number(ZRecordOptions.WORLD_SIZE, 1, 1),
        WriteConf.parse(
            ZRecordOptions.REMAINDER,
            options.getOrDefault(ZRecordOptions.REMAINDER, Remainder.DROP.name()),
            SamplerOptions::remainder));
  }

  private static Remainder remainder(String text) {
    for (Remainder known : Remainder.values()) {
      if (known.name().equalsIgnoreCase(text.strip())) {
        return known;
      }
    }
    throw new IllegalArgumentException(
        "use one of " + Arrays.toString(Remainder.values()).toLowerCase(Locale.ROOT));
  }

  private long number(String key, long otherwise, long lowest) {
    String text = options.get(key);
    if (text == null) {
      return otherwise;
    }
    return WriteConf.parse(key, text, value -> {
      try {
        long number = Long.parseLong(value.strip());
        if (number >= lowest) {
          return number;
        }
      } catch (NumberFormatException e) {
        // Said below.
      }
      throw new IllegalArgumentException("use a whole number from " + lowest + " on");
    });
  }
}
