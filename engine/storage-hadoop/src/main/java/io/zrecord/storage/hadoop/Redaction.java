package io.zrecord.storage.hadoop;

import java.io.IOException;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * Hides credentials in messages of file systems: the values of settings that are secrets, the
 * passwords and queries of URIs, and signatures. Stateless.
 */
final class Redaction {
  private static final String HIDDEN = "…";

  /** Shorter values are no secrets, but words. */
  private static final int MIN_SECRET_LENGTH = 8;

  /** Names that end so, or go on with the host of an account of Azure. */
  private static final Pattern SECRET_NAME =
      Pattern.compile("(?i).*(secret|password|passphrase|token|credential|[._-]key|sas)"
          + "(\\.[^.]+\\.(blob|dfs)\\..+)?");

  /** A password may have a slash in it; what follows a port is none. */
  private static final Pattern USER =
      Pattern.compile("(\\w[\\w+.-]*://)[^/\\s@]*:(?!\\d+/)[^\\s@]*@");

  private static final Pattern QUERY =
      Pattern.compile("(\\w[\\w+.-]*://[^\\s?\"'<>]+)\\?[^\\s\"'<>]*");
  private static final Pattern PARAMETER = Pattern.compile(
      "(?i)\\b((?:x-amz-|x-goog-)(?:signature|credential|security-token)|sig|signature|password)"
          + "=[^&\\s,;\"'<>]+");

  private Redaction() {}

  /** Returns a text without credentials. */
  static String of(String text, Configuration settings) {
    String shown = QUERY.matcher(text).replaceAll("$1?" + HIDDEN);
    shown = USER.matcher(shown).replaceAll("$1" + HIDDEN + "@");
    shown = PARAMETER.matcher(shown).replaceAll("$1=" + HIDDEN);
    for (Map.Entry<String, String> setting : settings) {
      String value = setting.getValue();
      if (value != null
          && value.length() >= MIN_SECRET_LENGTH
          && shown.contains(value)
          && SECRET_NAME.matcher(setting.getKey()).matches()) {
        shown = shown.replace(value, HIDDEN);
      }
    }
    return shown;
  }

  /**
   * Returns a failure without credentials, for the chain of causes: the failure itself if there are
   * none in it.
   */
  static Throwable cause(Throwable failure, Configuration settings) {
    Throwable cause = failure.getCause();
    @Nullable Throwable shownCause = cause == null ? null : cause(cause, settings);
    String text = String.valueOf(failure);
    String shown = of(text, settings);
    return shown.equals(text) && shownCause == cause
        ? failure
        : new HiddenFailure(shown, shownCause, failure.getStackTrace());
  }

  /** Takes the place of a failure whose message has credentials in it. */
  private static final class HiddenFailure extends IOException {
    private static final long serialVersionUID = 1L;

    HiddenFailure(String shown, @Nullable Throwable cause, StackTraceElement[] trace) {
      super(shown, cause);
      setStackTrace(trace);
    }
  }
}
