package io.zrecord.spark.options;

import java.util.Locale;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** What is done with options that zrecord does not know, or not for what is being done. */
enum UnknownOptions {
  /** An error names the options that are known. */
  REFUSE,
  /** They are for another source, and skipped. */
  IGNORE;

  /**
   * Returns what the options themselves ask for.
   *
   * @throws IllegalArgumentException if the value is neither
   */
  static UnknownOptions of(CaseInsensitiveStringMap options) {
    String text = options.getOrDefault(ZRecordOptions.UNKNOWN_OPTIONS, REFUSE.name());
    return OptionValue.parse(ZRecordOptions.UNKNOWN_OPTIONS, text, name -> {
      for (UnknownOptions known : values()) {
        if (known.name().equals(name.strip().toUpperCase(Locale.ROOT))) {
          return known;
        }
      }
      throw new IllegalArgumentException("use refuse or ignore");
    });
  }
}
