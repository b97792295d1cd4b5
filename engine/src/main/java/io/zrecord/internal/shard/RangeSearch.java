package io.zrecord.internal.shard;

import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.StatisticsCollector;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.format.ValueOrder;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ValueRange;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Finds the records whose value of a field may be within a range, by the statistics of blocks of
 * records (FORMAT.md section 5). What the statistics do not say may be within. Immutable.
 */
public final class RangeSearch {
  private final FieldSpec field;
  private final ValueOrder order;
  private long leastHigh;
  private long leastLow;
  private long mostHigh;
  private long mostLow;

  /**
   * Prepares a search.
   *
   * @throws IllegalArgumentException if the values of the field are not ordered as those of the
   *     range
   */
  public RangeSearch(FieldSpec field, ValueRange range) {
    ValueOrder found = ValueOrder.of(field.type(), field.shape());
    this.field = field;
    if (found == ValueOrder.SIGNED && range instanceof ValueRange.Integers integers) {
      setHigh(ValueOrder.ofSigned(integers.least()), ValueOrder.ofSigned(integers.most()));
    } else if (found == ValueOrder.UNSIGNED && range instanceof ValueRange.Integers integers) {
      setUnsigned(integers);
    } else if (found == ValueOrder.FLOATING && range instanceof ValueRange.Fractions fractions) {
      setHigh(leastKey(fractions.least()), mostKey(fractions.most()));
    } else if (found == ValueOrder.TEXT && range instanceof ValueRange.Texts texts) {
      setTexts(texts);
    } else {
      throw new IllegalArgumentException("Cannot look for " + range + " in field '" + field.name()
          + "' of type " + field.type() + field.shape()
          + ": give integers, fractions or texts for a single value of such a type");
    }
    this.order = found;
  }

  private void setHigh(long least, long most) {
    leastHigh = least;
    mostHigh = most;
  }

  private void setUnsigned(ValueRange.Integers range) {
    if (range.most() < 0) {
      setHigh(-1, 0); // Nothing is within.
    } else {
      setHigh(Math.max(0, range.least()), range.most() == Long.MAX_VALUE ? -1 : range.most());
    }
  }

  private static long leastKey(double value) {
    return Double.isNaN(value) ? -1 : ValueOrder.ofDouble(value == 0 ? -0.0 : value);
  }

  private static long mostKey(double value) {
    return Double.isNaN(value) ? -1 : ValueOrder.ofDouble(value == 0 ? 0.0 : value);
  }

  private void setTexts(ValueRange.Texts texts) {
    byte[] least = texts.least().getBytes(StandardCharsets.UTF_8);
    leastHigh = ValueOrder.highOf(least, 0, least.length);
    leastLow = ValueOrder.lowOf(least, 0, least.length);
    mostHigh = -1;
    mostLow = -1;
    String bound = texts.most();
    if (bound != null) {
      byte[] most = bound.getBytes(StandardCharsets.UTF_8);
      mostHigh = ValueOrder.highOf(most, 0, most.length);
      mostLow = ValueOrder.lowOf(most, 0, most.length);
    }
  }

  /**
   * Adds the records of a shard that may have a value within the range.
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
    if (collector == null || value.isEmpty()) {
      return StatisticsRecord.NOTHING;
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
    if (record.absentCount() == slots) {
      return false;
    }
    if (!record.isKnown()) {
      return true;
    }
    if (order == ValueOrder.FLOATING && record.nanCount() > 0 && mostHigh == -1) {
      return true;
    }
    return !record.isEmpty()
        && ValueOrder.compare(record.leastHigh(), record.leastLow(), mostHigh, mostLow) <= 0
        && ValueOrder.compare(leastHigh, leastLow, record.mostHigh(), record.mostLow()) <= 0;
  }
}
