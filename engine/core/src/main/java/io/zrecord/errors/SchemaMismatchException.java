package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** Thrown when the fields offered do not fit the dataset's fields. */
public final class SchemaMismatchException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public SchemaMismatchException(String resource, String message) {
    this(resource, message, null);
  }

  public SchemaMismatchException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
