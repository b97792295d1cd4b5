package io.zrecord.feed;

/** What a feed does with a record that cannot be read or transformed. What is delivered after a resume is the same in all of them. */
public enum BadRecordPolicy {
  /** {@link Feed#next} throws what went wrong, when it comes to the batch; the feed has ended then. The default. */
  FAIL,
  /** The whole batch is left out. */
  DROP_BATCH,
  /** The record is left out, and its batch is shorter; a batch of bad records only is left out. */
  SKIP_RECORD,
  /** Another record of the batch takes its place, the next good one in its circle; a batch of bad records only is left out. */
  SUBSTITUTE
}
