package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** Thrown when a path holds no dataset. */
public final class NotADatasetException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public NotADatasetException(String resource, String message) {
    this(resource, message, null);
  }

  public NotADatasetException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
