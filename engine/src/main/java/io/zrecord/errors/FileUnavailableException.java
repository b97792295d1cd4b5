package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/**
 * A file could not be used for a reason that says nothing about its content: permissions, a limit of the operating system, an interrupt.
 * Nothing is known to be damaged; do as the message says and try again.
 */
public final class FileUnavailableException extends StorageException {
  private static final long serialVersionUID = 1L;

  public FileUnavailableException(String resource, String message) {
    this(resource, message, null);
  }

  public FileUnavailableException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
