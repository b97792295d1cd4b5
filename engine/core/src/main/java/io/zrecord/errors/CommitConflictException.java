package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when another commit came first and the two do not commute. Nothing was published; read the
 * newest version and try again.
 */
public final class CommitConflictException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public CommitConflictException(String resource, String message) {
    this(resource, message, null);
  }

  public CommitConflictException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
