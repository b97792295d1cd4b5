package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a failure to publish leaves open whether the commit took effect. Nothing was deleted;
 * read the newest version before trying again.
 */
public final class CommitOutcomeUnknownException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public CommitOutcomeUnknownException(String resource, String message) {
    this(resource, message, null);
  }

  public CommitOutcomeUnknownException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
