package io.zrecord.feed;

/** Which records a batch has. Belongs to its slot. */
final class Place {
  private GroupPlan group;
  private int groupOrdinal;
  private boolean isValidation;
  private long epoch;
  private long batch;
  private long base;
  private long position;
  private int count;

  Place(GroupPlan anyGroup) {
    group = anyGroup;
  }

  void set(FeedPlan plan, Cursor cursor, int newGroup, int newCount) {
    group = plan.group(newGroup);
    groupOrdinal = newGroup;
    isValidation = cursor.isValidating();
    epoch = isValidation ? 0 : cursor.epoch();
    batch = cursor.batch();
    base = cursor.base(newGroup);
    position = cursor.position(newGroup);
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

  /** Batches of the training before it, from its very beginning. */
  long batch() {
    return batch;
  }

  int count() {
    return count;
  }

  void writeIndices(long[] target) {
    group.share(base).indices(epoch, position, target, 0, count);
  }

  /** Where a record stands in the order of all ranks. */
  long globalPosition(int ordinal) {
    return group.globalPositionOf(base, position + ordinal);
  }

  /** The seed of a record in this epoch. */
  long recordSeed(int ordinal) {
    return RecordSeeds.seed(group.seed(), epoch, globalPosition(ordinal));
  }
}
