package io.zrecord.internal.format;

import io.zrecord.errors.UnsupportedFormatException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The format version in binary files, at byte 8 of the header after the magic. */
public final class HeaderVersion {
  private static final int AT = 8;

  private HeaderVersion() {}

  /**
   * Refuses a later format. Call this once magic and checksum hold, and before trusting anything
   * else in the header.
   *
   * @param header at least 12 bytes
   * @throws UnsupportedFormatException if the version is greater than the version known here
   */
  public static void requireKnown(String resource, byte[] header) {
    int version = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(AT);
    if (Integer.compareUnsigned(version, JsonObject.FORMAT_VERSION) > 0) {
      throw new UnsupportedFormatException(
          resource,
          "Cannot read " + resource + ": format version " + Integer.toUnsignedString(version)
              + " is newer than " + JsonObject.FORMAT_VERSION + "; upgrade zrecord");
    }
  }
}
