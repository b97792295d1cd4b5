package io.zrecord.report;

/** Receives the progress of a report. */
@FunctionalInterface
public interface ReportProgress {
  /**
   * Reports progress after each shard.
   *
   * @param doneBytes chunk bytes of the finished shards; only their entries were read
   * @param totalBytes chunk bytes of all shards
   */
  void progress(long doneBytes, long totalBytes);
}
