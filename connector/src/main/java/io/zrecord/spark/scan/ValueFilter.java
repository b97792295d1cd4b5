package io.zrecord.spark.scan;

import io.zrecord.RecordDataset;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ValueFinder;
import java.util.List;

/**
 * Finds the records of a shard that meet the conditions of a scan: blocks by their statistics, then
 * records by their values, some of them at a time. Belongs to one task.
 */
final class ValueFilter {
  /** Records whose values are looked at before the first of them is read. */
  private static final int LOCAL_RECORDS = 1 << 16;

  /** The same of a remote shard, where each look is a request. */
  private static final int REMOTE_RECORDS = 1 << 20;

  /** Parts that are read whole after one in which nothing was gained. */
  private static final int PARTS_UNSEARCHED = 7;

  private final ReadSettings settings;

  /**
   * Find records of the shard by the values of each condition; none if values are not looked at.
   */
  private List<ValueFinder> finders = List.of();

  private long partRecords;
  private int unsearched;

  ValueFilter(ReadSettings settings) {
    this.settings = settings;
  }

  /**
   * Begins with a shard, and returns the records that may meet the conditions, by statistics.
   *
   * @param isComparable whether the shard has the types that the conditions are about
   */
  IndexSet open(RecordDataset shard, IndexSet records, boolean isComparable) {
    IndexSet found = records;
    if (isComparable) {
      for (ValueCondition condition : settings.conditions()) {
        found = found.intersect(condition.mayHold(shard));
      }
    }
    boolean isSearched = isComparable && !found.isEmpty() && isWorthwhile(shard);
    finders = !isSearched
        ? List.of()
        : settings.conditions().stream()
            .map(condition -> condition.finder(shard, settings.searched().names()))
            .toList();
    partRecords = !isSearched ? Long.MAX_VALUE : shard.isRemote() ? REMOTE_RECORDS : LOCAL_RECORDS;
    return found;
  }

  /** Narrow columns of a remote shard take fewer requests in ranges than record by record. */
  private boolean isWorthwhile(RecordDataset shard) {
    SearchedFields searched = settings.searched();
    return settings.sample() == null
        && !searched.names().isEmpty()
        && (searched.areOthersWide() || !shard.isRemote());
  }

  /** Returns how many records to take for the next part. */
  long partRecords() {
    return partRecords;
  }

  /** Returns the records of a part that may meet the conditions, by their values. */
  IndexSet search(IndexSet part) {
    if (finders.isEmpty()) {
      return part;
    }
    if (unsearched > 0) {
      unsearched--;
      return part;
    }
    IndexSet found = part;
    for (ValueFinder finder : finders) {
      found = finder.among(found);
    }
    if (found.count() > settings.searched().worthwhile() * part.count()) {
      unsearched = PARTS_UNSEARCHED;
      return part;
    }
    return found;
  }
}
