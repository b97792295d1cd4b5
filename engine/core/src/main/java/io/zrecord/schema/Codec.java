package io.zrecord.schema;

import java.util.Locale;

/** Says how the values of a field are stored (FORMAT.md section 4). */
public enum Codec {
  /** Stores values as they are. Reads are views of the mapped file. */
  RAW,
  /** Raw Deflate, levels 1 to 9. */
  FLATE,
  /** Zstandard, levels 1 to 22. */
  ZSTD,
  /** LZ4 blocks; level 0 is the fast compressor, 1 to 17 the high one. */
  LZ4;

  /**
   * Reads a name as it is written in metadata and options, in any case.
   *
   * @throws IllegalArgumentException if there is no such codec
   */
  public static Codec parse(String name) {
    for (Codec codec : values()) {
      if (codec.toString().equals(name.toLowerCase(Locale.ROOT))) {
        return codec;
      }
    }
    throw new IllegalArgumentException(
        "Unknown compression '" + name + "': expected raw, flate, zstd or lz4");
  }

  /** Returns the name in metadata. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
