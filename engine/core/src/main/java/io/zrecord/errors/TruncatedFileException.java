package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/** Thrown when a file is shorter than its metadata says. */
public final class TruncatedFileException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public TruncatedFileException(String resource, String message) {
    this(resource, message, null);
  }

  public TruncatedFileException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
