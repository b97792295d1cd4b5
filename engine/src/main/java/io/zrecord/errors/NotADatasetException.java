package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** There is no dataset at this path. */
public final class NotADatasetException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public NotADatasetException(String resource, String message) {
    this(resource, message, null);
  }

  public NotADatasetException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
