package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a file cannot be used for a reason that says nothing about the file's content:
 * permissions, a limit of the operating system, an interrupt. No damage is known; do as the message
 * says and try again.
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
