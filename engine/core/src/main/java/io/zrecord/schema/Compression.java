package io.zrecord.schema;

import java.io.Serializable;

/**
 * A codec and the level to write with. Readers need only the codec. Immutable.
 *
 * @param codec how values are stored
 * @param level 0 for {@code raw}, 1–9 for {@code flate}, 1–22 for {@code zstd}, 0–17 for
 *     {@code lz4}
 */
public record Compression(Codec codec, int level) implements Serializable {
  public static final Compression RAW = new Compression(Codec.RAW, 0);

  public Compression {
    int lowest = lowestLevel(codec);
    int highest = highestLevel(codec);
    if (level < lowest || level > highest) {
      throw new IllegalArgumentException("Compression level " + level + " is not allowed for "
          + codec + ": use " + lowest + " to " + highest);
    }
  }

  /**
   * Returns the codec at its default level: 6 for {@code flate}, 3 for {@code zstd}, 0 for the
   * others.
   */
  public static Compression of(Codec codec) {
    return new Compression(
        codec,
        switch (codec) {
          case RAW, LZ4 -> 0;
          case FLATE -> 6;
          case ZSTD -> 3;
        });
  }

  /**
   * Reads {@code codec} or {@code codec:level}, such as {@code zstd:9}.
   *
   * @throws IllegalArgumentException if the codec or the level is unknown
   */
  public static Compression parse(String text) {
    int colon = text.indexOf(':');
    if (colon < 0) {
      return of(Codec.parse(text.strip()));
    }
    Codec codec = Codec.parse(text.substring(0, colon).strip());
    String level = text.substring(colon + 1).strip();
    try {
      return new Compression(codec, Integer.parseInt(level));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "Compression level '" + level + "' is not a number: use " + lowestLevel(codec) + " to "
              + highestLevel(codec) + " for " + codec,
          e);
    }
  }

  private static int lowestLevel(Codec codec) {
    return codec == Codec.FLATE || codec == Codec.ZSTD ? 1 : 0;
  }

  private static int highestLevel(Codec codec) {
    return switch (codec) {
      case RAW -> 0;
      case FLATE -> 9;
      case ZSTD -> 22;
      case LZ4 -> 17;
    };
  }

  @Override
  public String toString() {
    return codec == Codec.RAW ? "raw" : codec + ":" + level;
  }
}
