package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** Thrown when the table no longer has, or never had, the version or time asked for. */
public final class VersionNotFoundException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public VersionNotFoundException(String resource, String message) {
    this(resource, message, null);
  }

  public VersionNotFoundException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
