package io.zrecord.feed;

import java.util.List;

/**
 * Says when to deliver batches of other data between those of the training. A pass takes epoch 0 of
 * each group, one group after the other: every pass is the same.
 *
 * @param every what is counted
 * @param interval number of batches or epochs between two passes, ≥ 1
 * @param groups the data
 */
public record Validation(Every every, long interval, List<FeedGroup> groups) {
  /** Says what is counted. */
  public enum Every {
    /** Batches of the training, from its very beginning. */
    BATCHES,
    /** Epochs of the training. */
    EPOCHS
  }

  public Validation {
    groups = List.copyOf(groups);
    if (interval < 1 || groups.isEmpty()) {
      throw new IllegalArgumentException("Cannot validate " + groups.size() + " groups every "
          + interval + " " + every + ": give 1 or more of both");
    }
  }

  /** Makes a pass after each {@code batches} batches of the training. */
  public static Validation everyBatches(long batches, FeedGroup... groups) {
    return new Validation(Every.BATCHES, batches, List.of(groups));
  }

  /** Makes a pass after each {@code epochs} epochs. */
  public static Validation everyEpochs(long epochs, FeedGroup... groups) {
    return new Validation(Every.EPOCHS, epochs, List.of(groups));
  }
}
