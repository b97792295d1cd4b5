package io.zrecord.errors;

/** Thrown when the writer of a store was killed and the store has not been recovered yet. */
public final class StoreAbandonedException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public StoreAbandonedException(String resource, String message) {
    super(resource, message, null);
  }
}
