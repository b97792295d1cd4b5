package io.zrecord.feed;

/**
 * Says what a feed does with a record that is damaged, or for which a transform throws. After a
 * resume each policy delivers the same as without the stop. A
 * {@link io.zrecord.errors.StorageException} ends the feed under each policy: no record is to blame
 * when the system refuses to read.
 */
public enum BadRecordPolicy {
  /**
   * Ends the feed: {@link Feed#next} throws what went wrong when it comes to the batch. The
   * default.
   */
  FAIL,
  /** Leaves out the whole batch. */
  DROP_BATCH,
  /** Leaves out the record: its batch is shorter. Leaves out a batch whose records are all bad. */
  SKIP_RECORD,
  /**
   * Puts the next good record of the batch in the place of the bad one; after the last record comes
   * the first. Leaves out a batch whose records are all bad; with several ranks, which must deliver
   * equally many batches, such a batch ends the feed.
   */
  SUBSTITUTE
}
