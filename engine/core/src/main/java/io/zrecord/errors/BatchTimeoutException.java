package io.zrecord.errors;

/** Thrown when a batch is not ready in time. The message says what each loader was doing. */
public final class BatchTimeoutException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public BatchTimeoutException(String resource, String message) {
    super(resource, message, null);
  }
}
