package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** Thrown when a dataset is to be created where a dataset already exists. */
public final class DatasetExistsException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public DatasetExistsException(String resource, String message) {
    this(resource, message, null);
  }

  public DatasetExistsException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
