package io.zrecord.feed;

import io.zrecord.sampler.Sampler;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says which batches a feed delivers, in which order: a pure function of the groups. Immutable and
 * thread-safe; a {@link Cursor} says how far a feed has come.
 */
final class FeedPlan {
  private final List<GroupPlan> groups;
  private final int trainingCount;
  private final Mixture mixture;
  private final @Nullable Validation validation;
  private final long endEpoch;
  private final long endBatch;
  private final boolean hasBatches;

  /** Says how groups of the training follow each other. */
  enum Mixture {
    /** One group after the other. */
    SEQUENTIAL,
    /** Always from the group of which the smallest part is consumed; of equals, from the first. */
    LEAST_USED
  }

  /**
   * @param groups groups of the training, then those of the validation
   * @param trainingCount number of groups that belong to the training
   * @param validation when to validate; null: never
   * @param endEpoch the epoch to stop before
   * @param endBatch the batch of the training to stop before, counted from the very beginning
   */
  FeedPlan(
      List<GroupPlan> groups,
      int trainingCount,
      Mixture mixture,
      @Nullable Validation validation,
      long endEpoch,
      long endBatch) {
    this.groups = List.copyOf(groups);
    this.trainingCount = trainingCount;
    this.mixture = mixture;
    this.validation = validation;
    this.endEpoch = endEpoch;
    this.endBatch = endBatch;
    this.hasBatches = batchesPerEpoch() > 0;
  }

  List<GroupPlan> groups() {
    return groups;
  }

  GroupPlan group(int ordinal) {
    return groups.get(ordinal);
  }

  int trainingCount() {
    return trainingCount;
  }

  /** Returns the batches of an epoch, or {@link Sampler#ENDLESS}. */
  long batchesPerEpoch() {
    return batches(groups.subList(0, trainingCount));
  }

  /** Returns the batches of a pass of the validation; 0 if there is none. */
  long batchesPerValidation() {
    return batches(groups.subList(trainingCount, groups.size()));
  }

  /** Returns a copy of a cursor, moved over epochs that have no batch left. */
  Cursor settled(Cursor cursor) {
    Cursor copy = cursor.copy();
    settle(copy);
    return copy;
  }

  /**
   * Returns the batches of the training from a settled cursor to the end of its epoch or of the
   * feed; {@link Sampler#ENDLESS} if neither comes.
   */
  long batchesLeft(Cursor cursor) {
    if (cursor.epoch() >= endEpoch) {
      return 0;
    }
    long left = 0;
    for (int i = 0; i < trainingCount && left != Sampler.ENDLESS; i++) {
      long batches = groups.get(i).batchesFrom(cursor.base(i), cursor.position(i));
      left = batches == Sampler.ENDLESS ? batches : left + batches;
    }
    return endBatch == Long.MAX_VALUE
        ? left
        : Math.min(left, Math.max(0, endBatch - cursor.batch()));
  }

  /** Returns the number of the batch that the feed ends before; {@link Sampler#ENDLESS} if none. */
  long endBatch(Cursor settled) {
    long left = batchesLeft(settled);
    long perEpoch = batchesPerEpoch();
    long laterEpochs = Math.max(0, endEpoch - settled.epoch() - 1);
    boolean isEndless = left == Sampler.ENDLESS
        || (laterEpochs > 0 && perEpoch > (Sampler.ENDLESS - settled.batch() - left) / laterEpochs);
    return Math.min(
        endBatch, isEndless ? Sampler.ENDLESS : settled.batch() + left + laterEpochs * perEpoch);
  }

  private static long batches(List<GroupPlan> some) {
    long all = 0;
    for (GroupPlan group : some) {
      long batches = group.batchesPerEpoch();
      if (batches == Sampler.ENDLESS) {
        return batches;
      }
      all += batches;
    }
    return all;
  }

  Cursor start() {
    return new Cursor(groups.size());
  }

  /**
   * Returns the cursor before a batch of the training.
   *
   * @param epoch from 0
   * @param batch of that epoch, from 0; beyond its end, a batch of a later epoch
   */
  Cursor startAt(long epoch, long batch) {
    Cursor cursor = start();
    long perEpoch = batchesPerEpoch();
    if (perEpoch == Sampler.ENDLESS || perEpoch == 0) {
      cursor.startEpoch(epoch);
      cursor.advance(0, Math.multiplyExact(batch, (long) groups.get(0).batchSize()));
      cursor.startBatch(batch);
      return cursor;
    }
    cursor.startEpoch(epoch + batch / perEpoch);
    long within = batch % perEpoch;
    if (trainingCount == 1) {
      cursor.advance(0, within * groups.get(0).batchSize());
    } else {
      for (long i = 0; i < within; i++) {
        int group = chooseGroup(cursor);
        cursor.advance(group, nextCount(cursor, group));
      }
    }
    cursor.startBatch(Math.addExact(Math.multiplyExact(epoch, perEpoch), batch));
    return cursor;
  }

  /**
   * Returns the cursor at a position of the only group of the training, whose plan begins there.
   *
   * @param epoch from 0
   * @param position of the order of all ranks together
   */
  Cursor startAtPosition(long epoch, long position) {
    Cursor cursor = start();
    GroupPlan group = groups.get(0);
    long perEpoch = batchesPerEpoch() == Sampler.ENDLESS ? 0 : batchesPerEpoch();
    long before = position / group.ranks().worldSize() / group.batchSize();
    cursor.startEpoch(epoch);
    cursor.startBatch(Math.addExact(Math.multiplyExact(epoch, perEpoch), before));
    cursor.resume(0, position);
    return cursor;
  }

  /** Tells which batch comes next and moves the cursor after it; returns false at the end. */
  boolean step(Cursor cursor, BatchRange range) {
    settle(cursor);
    if (cursor.isValidating()) {
      int group = cursor.validationGroup();
      int count = nextCount(cursor, group);
      range.set(groups.get(group), group, cursor, count);
      cursor.advance(group, count);
    } else {
      int group = chooseGroup(cursor);
      if (group < 0 || cursor.epoch() >= endEpoch || cursor.batch() >= endBatch) {
        return false;
      }
      int count = nextCount(cursor, group);
      range.set(groups.get(group), group, cursor, count);
      cursor.advance(group, count);
      cursor.startBatch(cursor.batch() + 1);
      if (validation != null
          && validation.every() == Validation.Every.BATCHES
          && cursor.batch() % validation.interval() == 0) {
        beginValidation(cursor);
      }
    }
    settle(cursor);
    return true;
  }

  /** Describes in words what decides which batch has which number. */
  String describe() {
    StringBuilder text =
        new StringBuilder(mixture.name()).append(' ').append(groups.get(0).ranks());
    for (GroupPlan group : groups) {
      text.append("; ").append(group.describe());
    }
    return validation == null
        ? text.toString()
        : text + "; a validation every " + validation.interval() + " " + validation.every();
  }

  /** Moves the cursor over groups and epochs that have no batch left. */
  private void settle(Cursor cursor) {
    settleValidation(cursor);
    if (!cursor.isValidating() && hasBatches && chooseGroup(cursor) < 0) {
      cursor.startEpoch(cursor.epoch() + 1);
      if (validation != null
          && validation.every() == Validation.Every.EPOCHS
          && cursor.epoch() % validation.interval() == 0) {
        beginValidation(cursor);
        settleValidation(cursor);
      }
    }
  }

  private void beginValidation(Cursor cursor) {
    for (int group = trainingCount; group < groups.size(); group++) {
      cursor.rewind(group);
    }
    cursor.validate(trainingCount);
  }

  private void settleValidation(Cursor cursor) {
    while (cursor.isValidating() && nextCount(cursor, cursor.validationGroup()) == 0) {
      if (cursor.validationGroup() + 1 < groups.size()) {
        cursor.validate(cursor.validationGroup() + 1);
      } else {
        cursor.endValidation();
      }
    }
  }

  private int nextCount(Cursor cursor, int group) {
    return groups.get(group).nextCount(cursor.base(group), cursor.position(group));
  }

  /**
   * Returns the group of the training that the next batch comes from; -1 if none has a batch left.
   */
  private int chooseGroup(Cursor cursor) {
    int chosen = -1;
    for (int group = 0; group < trainingCount; group++) {
      if (nextCount(cursor, group) > 0) {
        if (mixture == Mixture.SEQUENTIAL) {
          return group;
        }
        if (chosen < 0 || isLessUsed(cursor, group, chosen)) {
          chosen = group;
        }
      }
    }
    return chosen;
  }

  private boolean isLessUsed(Cursor cursor, int a, int b) {
    long lengthA = groups.get(a).order().length();
    long lengthB = groups.get(b).order().length();
    long usedA = used(cursor, a);
    long usedB = used(cursor, b);
    // usedA / lengthA < usedB / lengthB in 128 bits; lengths are at most 2^62.
    long highA = Math.multiplyHigh(usedA, lengthB);
    long highB = Math.multiplyHigh(usedB, lengthA);
    return highA < highB
        || (highA == highB && Long.compareUnsigned(usedA * lengthB, usedB * lengthA) < 0);
  }

  private long used(Cursor cursor, int group) {
    return groups.get(group).globalPosition(cursor.base(group), cursor.position(group));
  }
}
