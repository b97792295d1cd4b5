package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a dataset uses a format version or a feature that this release does not know. Upgrade
 * zrecord.
 */
public final class UnsupportedFormatException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public UnsupportedFormatException(String resource, String message) {
    this(resource, message, null);
  }

  public UnsupportedFormatException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
