package io.zrecord.errors;

/** A batch was not ready in time; the message says what each loader was doing. */
public final class BatchTimeoutException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public BatchTimeoutException(String resource, String message) {
    super(resource, message, null);
  }
}
