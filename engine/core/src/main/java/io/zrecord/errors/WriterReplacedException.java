package io.zrecord.errors;

/**
 * Thrown when another writer opened the store, or its files were removed, while this writer had it
 * open. The operation may or may not have taken effect, and this writer can do nothing more.
 */
public final class WriterReplacedException extends StorageException {
  private static final long serialVersionUID = 1L;

  public WriterReplacedException(String resource, String message) {
    super(resource, message);
  }
}
