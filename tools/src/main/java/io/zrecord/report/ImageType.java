package io.zrecord.report;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The kinds of images that every browser shows and that cannot run scripts. Vector images can run
 * scripts, so none is among these.
 */
enum ImageType {
  PNG("image/png"),
  JPEG("image/jpeg"),
  GIF("image/gif"),
  WEBP("image/webp");

  private final String mediaType;

  ImageType(String mediaType) {
    this.mediaType = mediaType;
  }

  String mediaType() {
    return mediaType;
  }

  /** Returns the kind of an image by the signature of its bytes. */
  static Optional<ImageType> of(byte[] bytes) {
    if (begins(bytes, 0, "\u0089PNG\r\n\u001a\n")) {
      return Optional.of(PNG);
    }
    if (begins(bytes, 0, "\u00ff\u00d8\u00ff")) {
      return Optional.of(JPEG);
    }
    if (begins(bytes, 0, "GIF87a") || begins(bytes, 0, "GIF89a")) {
      return Optional.of(GIF);
    }
    return begins(bytes, 0, "RIFF") && begins(bytes, 8, "WEBP")
        ? Optional.of(WEBP)
        : Optional.empty();
  }

  private static boolean begins(byte[] bytes, int at, String signature) {
    byte[] expected = signature.getBytes(StandardCharsets.ISO_8859_1);
    return bytes.length >= at + expected.length
        && java.util.Arrays.equals(bytes, at, at + expected.length, expected, 0, expected.length);
  }
}
