package io.zrecord.feed;

import io.zrecord.sampler.Sampler;

/**
 * Names the records of a batch: consecutive positions of one group in an epoch. Owned by a slot.
 */
final class BatchRange {
  private GroupPlan group;
  private int groupOrdinal;
  private boolean isValidation;
  private long epoch;
  private long turn;
  private long batch;
  private long base;
  private long position;
  private int count;

  BatchRange(GroupPlan anyGroup) {
    group = anyGroup;
  }

  /** Takes the next records of a group at a cursor. */
  void set(GroupPlan newGroup, int newOrdinal, Cursor cursor, int newCount) {
    group = newGroup;
    groupOrdinal = newOrdinal;
    isValidation = cursor.isValidating();
    turn = cursor.epoch();
    epoch = isValidation ? 0 : turn;
    batch = cursor.batch();
    base = cursor.base(newOrdinal);
    position = cursor.position(newOrdinal);
    count = newCount;
  }

  GroupPlan group() {
    return group;
  }

  int groupOrdinal() {
    return groupOrdinal;
  }

  boolean isValidation() {
    return isValidation;
  }

  long epoch() {
    return epoch;
  }

  /** Returns the number of batches of the training before this one, from its very beginning. */
  long batch() {
    return batch;
  }

  int count() {
    return count;
  }

  /** Returns the epoch of the feed, which grows also while the order is that of one epoch. */
  long turn() {
    return turn;
  }

  /** Returns the order of this rank in the epoch. */
  Sampler order() {
    return group.share(base);
  }

  /** Returns the position of the first record in {@link #order}. */
  long position() {
    return position;
  }

  void writeIndices(long[] target) {
    order().indices(epoch, position, target, 0, count);
  }

  /** Returns the position of a record in the order of all ranks. */
  long globalPosition(int ordinal) {
    return group.globalPositionOf(base, position + ordinal);
  }

  /** Returns the seed of a record in this epoch. */
  long recordSeed(int ordinal) {
    return RecordSeeds.seed(group.seed(), epoch, globalPosition(ordinal));
  }
}
