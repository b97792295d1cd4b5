package io.zrecord.feed;

/**
 * Says how far a feed has come in its {@link FeedPlan}. Positions are those of this rank, counted
 * from the base where the epoch was resumed.
 */
final class Cursor {
  private static final int NONE = -1;

  private final long[] positions;
  private final long[] bases;
  private long epoch;
  private long batch;
  private int validationGroup = NONE;

  /** @param groupCount number of groups of the training and of the validation */
  Cursor(int groupCount) {
    positions = new long[groupCount];
    bases = new long[groupCount];
  }

  Cursor copy() {
    Cursor copy = new Cursor(positions.length);
    copy.copyFrom(this);
    return copy;
  }

  void copyFrom(Cursor other) {
    System.arraycopy(other.positions, 0, positions, 0, positions.length);
    System.arraycopy(other.bases, 0, bases, 0, bases.length);
    epoch = other.epoch;
    batch = other.batch;
    validationGroup = other.validationGroup;
  }

  /** Moves to the beginning of an epoch. */
  void startEpoch(long newEpoch) {
    epoch = newEpoch;
    for (int i = 0; i < positions.length; i++) {
      rewind(i);
    }
  }

  void startBatch(long newBatch) {
    batch = newBatch;
  }

  void rewind(int group) {
    resume(group, 0);
  }

  /** Moves a group after what all ranks together have consumed of the epoch. */
  void resume(int group, long base) {
    positions[group] = 0;
    bases[group] = base;
  }

  void advance(int group, long count) {
    positions[group] += count;
  }

  void validate(int group) {
    validationGroup = group;
  }

  void endValidation() {
    validationGroup = NONE;
  }

  boolean isValidating() {
    return validationGroup != NONE;
  }

  int validationGroup() {
    return validationGroup;
  }

  long epoch() {
    return epoch;
  }

  /** Returns the number of batches of the training before this cursor, from the very beginning. */
  long batch() {
    return batch;
  }

  long position(int group) {
    return positions[group];
  }

  long base(int group) {
    return bases[group];
  }
}
