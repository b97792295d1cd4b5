package io.zrecord.internal.shard.search;

import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.StatisticsCollector;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.format.ValueOrder;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ValueRange;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Finds the records whose value of a field may be within one of some ranges, by the statistics of
 * blocks of records (FORMAT.md section 5). What the statistics do not say may be within. Immutable.
 */
public final class RangeSearch {
  private final FieldSpec field;
  private final KeyRanges ranges;
  private boolean wantsAbsent;
  private boolean wantsPresent;

  /**
   * Prepares a search.
   *
   * @throws IllegalArgumentException if the values of the field are not ordered as those of a range
   */
  public RangeSearch(FieldSpec field, ValueRange... ranges) {
    this.field = field;
    ValueOrder order = ValueOrder.of(field.type(), field.shape());
    List<KeyRange> keys = new ArrayList<>();
    for (ValueRange range : ranges) {
      wantsAbsent |= range == ValueRange.Presence.ABSENT;
      wantsPresent |= range == ValueRange.Presence.PRESENT;
      if (!(range instanceof ValueRange.Presence)) {
        keys.add(KeyRange.of(field, order, range));
      }
    }
    this.ranges = KeyRanges.of(keys);
  }

  /**
   * Adds the records of a shard that may have a value within a range.
   *
   * @param firstIndex index of the shard's first record
   */
  public void addTo(IndexSet.Builder indices, OpenShard shard, long firstIndex) {
    PatchFile patch = shard.patch();
    ChangedField changed = patch == null ? null : patch.changed(field);
    List<StatisticsRecord> changes = patch == null || changed == null || !isShared(changed.type())
        ? List.of()
        : patch.statistics(field.id(), changed.slots());
    Optional<List<StatisticsRecord>> records = records(shard);
    RankedBitmap deleted = patch == null ? null : patch.deleted();
    for (long from = 0; from < shard.slots(); from += StatisticsRecord.SLOTS) {
      long to = Math.min(shard.slots(), from + StatisticsRecord.SLOTS);
      int block = (int) (from / StatisticsRecord.SLOTS);
      if ((records.isEmpty() || mayMatch(records.get().get(block), to - from))
          || (changed != null && mayMatch(changed.slots(), changes, from))) {
        long deletedBefore = deleted == null ? 0 : deleted.rank(from);
        long deletedUpTo = deleted == null ? 0 : deleted.rank(to);
        if (from - deletedBefore < to - deletedUpTo) {
          indices.add(firstIndex + from - deletedBefore, firstIndex + to - deletedUpTo);
        }
      }
    }
  }

  private boolean isShared(ElementType stored) {
    return ValueOrder.isShared(stored, field.type(), field.shape());
  }

  /** Returns what the values are without the patch, for each block; empty if that is not known. */
  private Optional<List<StatisticsRecord>> records(OpenShard shard) {
    Optional<FieldTables> tables = shard.tablesOf(field.id());
    if (tables.isPresent()) {
      List<StatisticsRecord> records =
          isShared(tables.get().type()) ? shard.statistics(field.id()) : List.of();
      return records.isEmpty() ? Optional.empty() : Optional.of(records);
    }
    StatisticsRecord everywhere = initial();
    return Optional.of(
        Collections.nCopies(Math.toIntExact(StatisticsRecord.count(shard.slots())), everywhere));
  }

  /** Returns what the values of a shard without the field are. */
  private StatisticsRecord initial() {
    StatisticsCollector collector = StatisticsCollector.of(field);
    Optional<byte[]> value = field.rules().initial();
    if (value.isEmpty()) {
      return StatisticsRecord.unknown(StatisticsRecord.SLOTS); // All are absent.
    }
    if (collector == null) {
      return StatisticsRecord.unknown(0);
    }
    collector.add(value.get(), 0, value.get().length);
    collector.endBlock();
    return collector.records().get(0);
  }

  private boolean mayMatch(RankedBitmap changed, List<StatisticsRecord> records, long from) {
    int container = changed.containerOf(from);
    return container >= 0
        && (records.isEmpty()
            || mayMatch(records.get(container), changed.containerSlots(container)));
  }

  private boolean mayMatch(StatisticsRecord record, long slots) {
    if (wantsAbsent && record.absentCount() > 0) {
      return true;
    }
    if (record.absentCount() >= slots) {
      return false;
    }
    return wantsPresent || ranges.mayHave(record);
  }
}
