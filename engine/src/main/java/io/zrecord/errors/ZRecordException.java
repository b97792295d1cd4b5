package io.zrecord.errors;

import org.jspecify.annotations.Nullable;

/**
 * Base of everything that can go wrong with a dataset, as opposed to with a caller (whose bugs are reported by the JDK's
 * exceptions). The message says what failed, why with the values at hand, and what to do.
 */
public abstract class ZRecordException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String resource;

  protected ZRecordException(String resource, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.resource = resource;
  }

  /** The file or directory concerned. */
  public String resource() {
    return resource;
  }
}
