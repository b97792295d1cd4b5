package io.zrecord.errors;

/** The writer of a store was killed, and what it left has not been recovered yet. */
public final class StoreAbandonedException extends ZRecordException {
  private static final long serialVersionUID = 1L;

  public StoreAbandonedException(String resource, String message) {
    super(resource, message, null);
  }
}
