package io.zrecord.internal.format;

import io.zrecord.errors.UnsupportedFormatException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Checks format versions. Binary files have theirs at byte 8 of the header, after the magic. */
public final class HeaderVersion {
  private static final int AT = 8;

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
