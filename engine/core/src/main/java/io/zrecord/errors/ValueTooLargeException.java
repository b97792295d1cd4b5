package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** Thrown when a value exceeds 2³¹−1 bytes or the limit of its field. */
public final class ValueTooLargeException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public ValueTooLargeException(String resource, String message) {
    this(resource, message, null);
  }

  public ValueTooLargeException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
