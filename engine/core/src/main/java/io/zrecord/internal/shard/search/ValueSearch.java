package io.zrecord.internal.shard.search;

import io.zrecord.internal.format.ValueOrder;
import io.zrecord.read.FieldReader;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ValueFinder;
import io.zrecord.read.ValueRange;
import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the records whose value of a field is within one of some ranges. Reads the values. */
public final class ValueSearch implements ValueFinder {
  /** Values that are looked at together. */
  private static final int MOST_VALUES = 4096;

  private static final long MOST_BYTES = 1 << 20;

  /** Average length of ranges below which records are read one by one. */
  private static final int SHORT_RANGE = 64;

  private final FieldReader reader;
  private final boolean wantsAbsent;
  private final boolean wantsPresent;

  /** Null if presence alone decides. */
  private final @Nullable ValueTest test;

  private final boolean[] matches = new boolean[MOST_VALUES];

  /**
   * Prepares a search, which belongs to one thread.
   *
   * @param reader of the field, which the search selects values of
   * @throws IllegalArgumentException if the values of the field are not ordered as those of a range
   */
  public ValueSearch(FieldReader reader, ValueRange... ranges) {
    this.reader = reader;
    List<ValueRange> all = Arrays.asList(ranges);
    this.wantsAbsent = all.contains(ValueRange.Presence.ABSENT);
    this.wantsPresent = all.contains(ValueRange.Presence.PRESENT);
    this.test = test(reader.field(), all);
  }

  private static @Nullable ValueTest test(FieldSpec field, List<ValueRange> ranges) {
    ValueOrder order = ValueOrder.of(field.type(), field.shape());
    List<KeyRange> keys = new ArrayList<>();
    List<ValueRange.Texts> texts = new ArrayList<>();
    for (ValueRange range : ranges) {
      if (!(range instanceof ValueRange.Presence)) {
        keys.add(KeyRange.of(field, order, range));
      }
      if (range instanceof ValueRange.Texts text) {
        texts.add(text);
      }
    }
    if (order == null || keys.isEmpty()) {
      return null;
    }
    return order == ValueOrder.TEXT
        ? new TextTest(texts)
        : new NumberTest(
            order, field.valueWidthBytes().orElseThrow(), KeyRanges.of(keys).list());
  }

  @Override
  public IndexSet among(IndexSet records) {
    IndexSet.Builder found = new IndexSet.Builder();
    if (records.count() < (long) SHORT_RANGE * records.rangeCount()) {
      gather(records, found);
    } else {
      for (int range = 0; range < records.rangeCount(); range++) {
        scan(records.rangeFrom(range), records.rangeTo(range), found);
      }
    }
    return found.build();
  }

  private void scan(long from, long to, IndexSet.Builder found) {
    long first = from;
    while (first < to) {
      int count = reader.selectRange(first, (int) Math.min(MOST_VALUES, to - first), MOST_BYTES);
      match(count);
      for (int i = 0; i < count; i++) {
        int begin = i;
        while (i < count && matches[i]) {
          i++;
        }
        found.add(first + begin, first + i);
      }
      first += count;
    }
  }

  private void gather(IndexSet records, IndexSet.Builder found) {
    long[] chunk = new long[(int) Math.min(MOST_VALUES, records.count())];
    int count = 0;
    for (int range = 0; range < records.rangeCount(); range++) {
      for (long index = records.rangeFrom(range); index < records.rangeTo(range); index++) {
        chunk[count++] = index;
        if (count == chunk.length) {
          gather(chunk, count, found);
          count = 0;
        }
      }
    }
    gather(chunk, count, found);
  }

  private void gather(long[] indices, int count, IndexSet.Builder found) {
    int next = 0;
    int most = count;
    while (next < count) {
      int taken = Math.min(most, count - next);
      reader.select(indices, next, taken);
      if (taken > 1 && reader.totalLengthBytes() > MOST_BYTES) {
        most = Math.max(1, taken / 4);
        continue;
      }
      match(taken);
      for (int i = 0; i < taken; i++) {
        if (matches[i]) {
          found.add(indices[next + i], indices[next + i] + 1);
        }
      }
      next += taken;
    }
  }

  /** Tells which of the selected values are within a range. */
  private void match(int count) {
    ValueTest ofValues = test;
    if (ofValues == null || wantsPresent) {
      Arrays.fill(matches, 0, count, wantsPresent);
    } else {
      ofValues.test(reader, matches);
    }
    if (reader.hasAbsent()) {
      for (int i = 0; i < count; i++) {
        if (reader.isAbsent(i)) {
          matches[i] = wantsAbsent;
        }
      }
    }
  }
}
