package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the bytes on disk are not the bytes that were written: a checksum, a length or a
 * structure does not hold. Restore the file from a copy, or leave the record out.
 */
public final class CorruptDataException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public CorruptDataException(String resource, String message) {
    this(resource, message, null);
  }

  public CorruptDataException(String resource, String message, @Nullable Throwable cause) {
    super(resource, message, cause);
  }
}
