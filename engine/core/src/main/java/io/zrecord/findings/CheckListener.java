package io.zrecord.findings;

/** Receives the findings of a running check, on the thread that runs the check. */
@FunctionalInterface
public interface CheckListener {

  void finding(Finding finding);

  /**
   * Reports how far the check is.
   *
   * @param doneBytes bytes checked so far
   * @param totalBytes bytes to check, as far as is known; may grow
   */
  default void progress(long doneBytes, long totalBytes) {}
}
