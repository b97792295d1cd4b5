package io.zrecord.spark.path;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Names for the settings of reads and writes. Spark shows identifiers of tables in plans and
 * messages, so an identifier has a random token in place of settings, which may be credentials. On
 * the driver. Thread-safe.
 */
final class SettingsTokens {
  /** Most settings that are known at once. The least recently used settings are forgotten. */
  private static final int MAX_KNOWN = 10_000;

  private static final Map<String, Map<String, String>> SETTINGS =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Map<String, String>> eldest) {
          boolean isFull = size() > MAX_KNOWN;
          if (isFull) {
            TOKENS.remove(eldest.getValue());
          }
          return isFull;
        }
      };

  private static final Map<Map<String, String>, String> TOKENS = new LinkedHashMap<>();

  private SettingsTokens() {}

  /** Returns the token of settings, the same for equal settings. */
  static synchronized String token(Map<String, String> settings) {
    Map<String, String> kept = Map.copyOf(settings);
    String token = TOKENS.computeIfAbsent(kept, unknown -> UUID.randomUUID().toString());
    SETTINGS.put(token, kept);
    return token;
  }

  /**
   * Returns the settings of a token.
   *
   * @throws IllegalArgumentException if the token is not known to this driver, or was forgotten
   */
  static synchronized Map<String, String> settings(String token) {
    Map<String, String> settings = SETTINGS.get(token);
    if (settings == null) {
      throw new IllegalArgumentException("The settings " + token
          + " are not known to this driver; load the path again with its options");
    }
    return settings;
  }
}
