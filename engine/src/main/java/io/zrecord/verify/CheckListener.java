package io.zrecord.verify;

/** Hears what a check finds, while it goes on; called by the thread that runs it. */
@FunctionalInterface
public interface CheckListener {

  void finding(Finding finding);

  /**
   * How far the check is.
   *
   * @param doneBytes bytes looked at
   * @param totalBytes bytes to be looked at, as far as is known; may grow
   */
  default void progress(long doneBytes, long totalBytes) {}
}
