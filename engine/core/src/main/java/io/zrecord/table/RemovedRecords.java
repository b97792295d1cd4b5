package io.zrecord.table;

import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.shard.ShardSummary;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Records of a shard that a change removes whole, as far as they follow each other in one shard
 * now. Takes the same memory for any number of records.
 *
 * @param origin identity of the shard that is removed
 * @param record the index of the first record in that shard
 * @param shard the shard where the records are, in the state of the last version that was looked at
 * @param first the slot of the first record there
 * @param last the slot of the last record there; all records between are among them
 */
record RemovedRecords(UUID origin, long record, ShardSummary shard, long first, long last) {
  /** Returns all records of a shard. */
  static RemovedRecords of(ShardSummary shard, @Nullable RankedBitmap deleted) {
    return new RemovedRecords(
        shard.id(), 0, shard, slot(deleted, 0), slot(deleted, shard.length() - 1));
  }

  /** Returns the first of some rising slots that is among those of the records. */
  OptionalLong firstOf(long[] slots) {
    int found = Arrays.binarySearch(slots, first);
    int place = found >= 0 ? found : -1 - found;
    return place < slots.length && slots[place] <= last
        ? OptionalLong.of(slots[place])
        : OptionalLong.empty();
  }

  /** Returns how many records these are. */
  long count(@Nullable RankedBitmap deleted) {
    return index(deleted, last) - index(deleted, first) + 1;
  }

  /** Returns the index of the record of a slot, in a shard with some deleted slots. */
  static long index(@Nullable RankedBitmap deleted, long slot) {
    return slot - (deleted == null ? 0 : deleted.rank(slot));
  }

  /** Returns the slot of a record, in a shard with some deleted slots. */
  static long slot(@Nullable RankedBitmap deleted, long index) {
    return deleted == null ? index : deleted.missing(index);
  }
}
