package io.zrecord.internal.shard;

import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.StatisticsCollector;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.format.ValueOrder;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ValueRange;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds the records whose value of a field may be within one of some ranges, by the statistics of
 * blocks of records (FORMAT.md section 5). What the statistics do not say may be within. Immutable.
 */
public final class RangeSearch {
  private final FieldSpec field;
  private final List<Keys> ranges = new ArrayList<>();
  private boolean wantsAbsent;
  private boolean wantsPresent;

  /** A range of keys. */
  private record Keys(long leastHigh, long leastLow, long mostHigh, long mostLow) {
    static Keys ofHigh(long least, long most) {
      return new Keys(least, 0, most, 0);
    }

    boolean mayHave(StatisticsRecord block) {
      if (!block.isKnown() || (mostHigh == -1 && block.nanCount() > 0)) {
        return true; // NaN has no key. A range of numbers with NaN has no other bound.
      }
      return ValueOrder.compare(block.leastHigh(), block.leastLow(), mostHigh, mostLow) <= 0
          && ValueOrder.compare(leastHigh, leastLow, block.mostHigh(), block.mostLow()) <= 0;
    }
  }

  /**
   * Prepares a search.
   *
   * @throws IllegalArgumentException if the values of the field are not ordered as those of a range
   */
  public RangeSearch(FieldSpec field, ValueRange... ranges) {
    this.field = field;
    ValueOrder order = ValueOrder.of(field.type(), field.shape());
    for (ValueRange range : ranges) {
      wantsAbsent |= range == ValueRange.Presence.ABSENT;
      wantsPresent |= range == ValueRange.Presence.PRESENT;
      if (!(range instanceof ValueRange.Presence)) {
        this.ranges.add(keys(order, range));
      }
    }
  }

  private Keys keys(@Nullable ValueOrder order, ValueRange range) {
    if (order == ValueOrder.SIGNED && range instanceof ValueRange.Integers integers) {
      return Keys.ofHigh(
          ValueOrder.ofSigned(integers.least()), ValueOrder.ofSigned(integers.most()));
    }
    if (order == ValueOrder.UNSIGNED && range instanceof ValueRange.Integers integers) {
      return unsigned(integers);
    }
    if (order == ValueOrder.FLOATING && range instanceof ValueRange.Fractions fractions) {
      return Keys.ofHigh(leastKey(fractions.least()), mostKey(fractions.most()));
    }
    if (order == ValueOrder.TEXT && range instanceof ValueRange.Texts texts) {
      return texts(texts);
    }
    throw new IllegalArgumentException("Cannot look for " + range + " in field '" + field.name()
        + "' of type " + field.type() + field.shape()
        + ": give integers, fractions or texts for a single value of such a type");
  }

  private static Keys unsigned(ValueRange.Integers range) {
    return range.most() < 0
        ? Keys.ofHigh(-1, 0) // Nothing is within.
        : Keys.ofHigh(
            Math.max(0, range.least()), range.most() == Long.MAX_VALUE ? -1 : range.most());
  }

  private static long leastKey(double value) {
    return Double.isNaN(value) ? -1 : ValueOrder.ofDouble(value == 0 ? -0.0 : value);
  }

  private static long mostKey(double value) {
    return Double.isNaN(value) ? -1 : ValueOrder.ofDouble(value == 0 ? 0.0 : value);
  }

  private static Keys texts(ValueRange.Texts range) {
    byte[] least = range.least().getBytes(StandardCharsets.UTF_8);
    long leastHigh = ValueOrder.highOf(least, 0, least.length);
    long leastLow = ValueOrder.lowOf(least, 0, least.length);
    String bound = range.most();
    if (bound == null) {
      return new Keys(leastHigh, leastLow, -1, -1);
    }
    byte[] most = bound.getBytes(StandardCharsets.UTF_8);
    return new Keys(
        leastHigh,
        leastLow,
        ValueOrder.highOf(most, 0, most.length),
        ValueOrder.lowOf(most, 0, most.length));
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
    return wantsPresent || ranges.stream().anyMatch(range -> range.mayHave(record));
  }
}
