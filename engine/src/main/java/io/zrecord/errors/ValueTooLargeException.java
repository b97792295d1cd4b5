package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** A value exceeds 2³¹−1 bytes or what its field allows. */
public final class ValueTooLargeException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public ValueTooLargeException(String resource, String message) {
    this(resource, message, null);
  }

  public ValueTooLargeException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
