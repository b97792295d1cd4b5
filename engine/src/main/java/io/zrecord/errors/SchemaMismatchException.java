package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** The fields offered do not fit those of the dataset. */
public final class SchemaMismatchException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public SchemaMismatchException(String resource, String message) {
    this(resource, message, null);
  }

  public SchemaMismatchException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
