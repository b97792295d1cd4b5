package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** Thrown when a batch is used after its release. */
public final class BatchReleasedException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public BatchReleasedException(String resource, String message) {
    this(resource, message, null);
  }

  public BatchReleasedException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
