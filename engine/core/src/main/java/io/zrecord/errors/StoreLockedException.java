package io.zrecord.errors;

/** Thrown when another writer has the store open. */
public final class StoreLockedException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public StoreLockedException(String resource, String message) {
    super(resource, message, null);
  }
}
