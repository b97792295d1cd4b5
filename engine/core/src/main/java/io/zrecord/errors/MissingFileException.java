package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** Thrown when a file that the dataset names does not exist. */
public final class MissingFileException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public MissingFileException(String resource, String message) {
    this(resource, message, null);
  }

  public MissingFileException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
