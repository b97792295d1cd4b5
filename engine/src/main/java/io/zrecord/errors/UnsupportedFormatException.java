package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** The dataset was written in a format version, or with a feature, that this release does not know. Upgrade zrecord. */
public final class UnsupportedFormatException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public UnsupportedFormatException(String resource, String message) {
    this(resource, message, null);
  }

  public UnsupportedFormatException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
