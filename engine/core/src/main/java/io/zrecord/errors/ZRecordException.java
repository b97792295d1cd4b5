package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/**
 * Base of everything that can go wrong with a dataset. Bugs of a caller are the JDK's exceptions
 * instead. The message says what failed, why (with the values at hand) and what to do.
 */
public abstract class ZRecordException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String resource;

  protected ZRecordException(String resource, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.resource = resource;
  }

  /** Returns the file or directory that the failure concerns. */
  public String resource() {
    return resource;
  }
}
