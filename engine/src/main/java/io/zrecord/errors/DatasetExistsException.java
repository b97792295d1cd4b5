package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** A dataset was to be created where one exists already. */
public final class DatasetExistsException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public DatasetExistsException(String resource, String message) {
    this(resource, message, null);
  }

  public DatasetExistsException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
