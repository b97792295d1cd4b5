package io.zrecord.feed;

/**
 * What a feed does with a record that is damaged, or that a transform throws for. What is delivered
 * after a resume is the same in all of them. That the system refuses to read is nothing that a
 * record can help: a {@link io.zrecord.errors.StorageException} ends the feed under each policy.
 */
public enum BadRecordPolicy {
  /**
   * {@link Feed#next} throws what went wrong, when it comes to the batch; the feed has ended then.
   * The default.
   */
  FAIL,
  /** The whole batch is left out. */
  DROP_BATCH,
  /** The record is left out, and its batch is shorter; a batch of bad records only is left out. */
  SKIP_RECORD,
  /**
   * Another record of the batch takes its place, the next good one in its circle; a batch of bad
   * records only is left out.
   */
  SUBSTITUTE
}
