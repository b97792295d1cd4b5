package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** Thrown when the file system reports an error. */
public class StorageException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public StorageException(String resource, String message) {
    this(resource, message, null);
  }

  public StorageException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
