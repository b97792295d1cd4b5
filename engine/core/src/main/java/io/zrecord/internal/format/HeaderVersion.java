package io.zrecord.internal.format;

import io.zrecord.errors.UnsupportedFormatException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Checks format versions. Binary files have theirs at byte 8 of the header, after the magic. */
public final class HeaderVersion {
  private static final int AT = 8;
  private static final int LENGTH_AT = 12;

  private HeaderVersion() {}

  /**
   * Refuses another format. Call this once magic and checksum hold, and before trusting anything
   * else in the header.
   *
   * @param header at least 12 bytes
   * @throws UnsupportedFormatException if the version is not the version known here
   */
  public static void requireKnown(String resource, byte[] header) {
    int version = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(AT);
    requireKnown(resource, Integer.toUnsignedLong(version));
  }

  /**
   * Refuses a header of another length, and reserved bytes that are not zero: a feature of a later
   * release may own them. Call this after {@link #requireKnown}.
   *
   * @param length the length that the header must say at byte 12
   * @param reserved pairs of positions: the first reserved byte, and the first one after
   * @throws UnsupportedFormatException if the header says more than is known here
   */
  public static void requirePlain(String resource, byte[] header, int length, int... reserved) {
    int found = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(LENGTH_AT);
    if (found != length) {
      throw unknown(resource, "its header has " + Integer.toUnsignedString(found) + " bytes");
    }
    for (int i = 0; i < reserved.length; i += 2) {
      for (int at = reserved[i]; at < reserved[i + 1]; at++) {
        if (header[at] != 0) {
          throw unknown(resource, "byte " + at + " of its header is not zero");
        }
      }
    }
  }

  /** Returns the exception for what a later release may give a meaning. */
  static UnsupportedFormatException unknown(String resource, String what) {
    return new UnsupportedFormatException(
        resource,
        "Cannot read " + resource + ": " + what
            + ", which this release does not know; upgrade zrecord");
  }

  static void requireKnown(String resource, long version) {
    if (version != JsonObject.FORMAT_VERSION) {
      throw new UnsupportedFormatException(
          resource,
          "Cannot read " + resource + ": format version " + version
              + (version < JsonObject.FORMAT_VERSION
                  ? " was never released; write the dataset again"
                  : " is newer than " + JsonObject.FORMAT_VERSION + "; upgrade zrecord"));
    }
  }
}
