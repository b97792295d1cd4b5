package io.zrecord.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Objects;

/**
 * The style sheet of the page.
 *
 * @param text the style sheet
 */
record PageStyle(String text) {
  private static final String RESOURCE = "report.css";

  static PageStyle load() {
    try (InputStream in =
        Objects.requireNonNull(PageStyle.class.getResourceAsStream(RESOURCE), RESOURCE)) {
      return new PageStyle(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the hash that allows exactly this style sheet in a Content-Security-Policy. */
  String hash() {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return "sha256-" + Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every Java has this algorithm.
    }
  }
}
