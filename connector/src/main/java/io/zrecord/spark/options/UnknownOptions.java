package io.zrecord.spark.options;

import java.util.Locale;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The treatment of options that zrecord does not know, or not for this operation. */
enum UnknownOptions {
  /** Throws an error that names the known options. */
  REFUSE,
  /** Skips the options, which are for another source. */
  IGNORE;

  /**
   * Returns the treatment that the options themselves ask for.
   *
   * @throws IllegalArgumentException if the value is neither {@code refuse} nor {@code ignore}
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
