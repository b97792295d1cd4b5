package io.zrecord.sampler;

import java.math.BigInteger;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Holds all that is stored to resume a run, whatever the number of threads and ranks and the depth
 * of prefetching. Immutable.
 *
 * @param datasetVersion version of the table, from 0, best the newest that changed records
 *     ({@code RecordDataset.recordsVersion}), which a tag leaves as it is; empty for a shard on its
 *     own
 * @param seed the seed of the sampler
 * @param epoch from 0
 * @param position number of positions of the epoch that are consumed, counted in the global order
 *     of all ranks
 */
public record SamplerState(OptionalLong datasetVersion, long seed, long epoch, long position) {
  private static final int FORMAT = 1;
  private static final int MAX_CHARACTERS = 1024;
  private static final Pattern MEMBER =
      Pattern.compile("\\s*\"([A-Za-z]+)\"\\s*:\\s*(-?[0-9]{1,19}|null)\\s*(,|$)");

  public SamplerState {
    if (epoch < 0 || position < 0 || datasetVersion.orElse(0) < 0) {
      throw new IllegalArgumentException("Cannot make a state of version " + datasetVersion
          + ", epoch " + epoch + " and position " + position + ": none may be negative");
    }
  }

  /** Returns the beginning of the first epoch. */
  public static SamplerState start(OptionalLong datasetVersion, long seed) {
    return new SamplerState(datasetVersion, seed, 0, 0);
  }

  /**
   * Returns the state after {@code count} more positions of a sampler. After the end of an epoch
   * the next one begins.
   *
   * @throws IllegalArgumentException if the count is negative, or the sampler is shorter than the
   *     position
   */
  public SamplerState advance(Sampler sampler, long count) {
    long length = sampler.length();
    if (count < 0 || position > length || (length == 0 && count > 0)) {
      throw new IllegalArgumentException(
          "Cannot advance by " + count + " from position " + position + " of " + sampler
              + ", which has " + length + " positions; resume with the sampler that was stopped");
    }
    if (length == Sampler.ENDLESS) {
      return new SamplerState(datasetVersion, seed, epoch, Math.addExact(position, count));
    }
    if (count < length - position || length == 0) {
      return new SamplerState(datasetVersion, seed, epoch, position + count);
    }
    long beyond = count - (length - position);
    return new SamplerState(
        datasetVersion, seed, Math.addExact(epoch, 1 + beyond / length), beyond % length);
  }

  /**
   * Returns this state if it is of this dataset and seed.
   *
   * @throws IllegalArgumentException if it is not: the order would be another
   */
  public SamplerState requireFits(OptionalLong version, long samplerSeed) {
    if (!datasetVersion.equals(version) || seed != samplerSeed) {
      throw new IllegalArgumentException("Cannot resume " + toJson() + " with version "
          + text(version) + " and seed " + samplerSeed
          + ": the order would be another; open that version and use that seed, or start anew");
    }
    return this;
  }

  /** Returns one line of JSON with a format version. */
  public String toJson() {
    return "{\"format\":" + FORMAT + ",\"datasetVersion\":" + text(datasetVersion) + ",\"seed\":"
        + seed + ",\"epoch\":" + epoch + ",\"position\":" + position + "}";
  }

  /**
   * Reads what {@link #toJson} wrote; members may come in any order.
   *
   * @throws IllegalArgumentException if the text is anything else, or of a newer format
   */
  public static SamplerState fromJson(String json) {
    Map<String, String> members = members(json);
    long format = number(json, members, "format");
    if (format != FORMAT) {
      throw new IllegalArgumentException("Cannot read a sampler state of format " + format
          + ": only " + FORMAT + " is known; upgrade zrecord or start anew");
    }
    OptionalLong version = "null".equals(members.get("datasetVersion"))
        ? OptionalLong.empty()
        : OptionalLong.of(number(json, members, "datasetVersion"));
    SamplerState state = new SamplerState(
        version,
        number(json, members, "seed"),
        number(json, members, "epoch"),
        number(json, members, "position"));
    if (members.size() != 5) {
      throw damaged(json, "it has unknown members");
    }
    return state;
  }

  private static Map<String, String> members(String json) {
    String text = json.strip();
    if (text.length() > MAX_CHARACTERS || !text.startsWith("{") || !text.endsWith("}")) {
      throw damaged(json, "it is no object of at most " + MAX_CHARACTERS + " characters");
    }
    Matcher matcher = MEMBER.matcher(text.substring(1, text.length() - 1));
    Map<String, String> members = new HashMap<>();
    boolean more = true;
    while (more) {
      if (!matcher.lookingAt()) {
        throw damaged(json, "it is no list of names with whole numbers");
      }
      if (members.put(matcher.group(1), matcher.group(2)) != null) {
        throw damaged(json, "it has " + matcher.group(1) + " twice");
      }
      more = ",".equals(matcher.group(3));
      matcher.region(matcher.end(), matcher.regionEnd());
    }
    return members;
  }

  private static long number(String json, Map<String, String> members, String name) {
    String value = members.get(name);
    if (value == null || value.equals("null")) {
      throw damaged(json, "it has no " + name);
    }
    if (new BigInteger(value).bitLength() >= Long.SIZE) {
      throw damaged(json, name + " is no 64-bit number");
    }
    return Long.parseLong(value);
  }

  private static IllegalArgumentException damaged(String json, String reason) {
    String shown = json.length() > 200 ? json.substring(0, 200) + "…" : json;
    return new IllegalArgumentException("Cannot read the sampler state " + shown + ": " + reason
        + "; give the line that toJson() made");
  }

  private static String text(OptionalLong version) {
    return version.isPresent() ? Long.toString(version.getAsLong()) : "null";
  }
}
