package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** The version or time asked for is not among the versions that the table still has. */
public final class VersionNotFoundException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public VersionNotFoundException(String resource, String message) {
    this(resource, message, null);
  }

  public VersionNotFoundException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
