package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when no space is left or a quota is exceeded. Everything published before is intact; free
 * space and try again.
 */
public final class DiskFullException extends StorageException {
  private static final long serialVersionUID = 1L;

  public DiskFullException(String resource, String message) {
    this(resource, message, null);
  }

  public DiskFullException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
