package io.zrecord.internal.shard.search;

import io.zrecord.read.FieldReader;
import io.zrecord.read.ValueRange;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tests texts by their bytes. */
final class TextTest implements ValueTest {
  private final List<TextRange> ranges;
  private byte[] bytes = new byte[0];

  /** A range of texts in UTF-8, both ends included. */
  private static final class TextRange {
    private final byte[] least;

    /** Null if the range does not end. */
    private final byte @Nullable [] most;

    TextRange(byte[] least, byte @Nullable [] most) {
      this.least = least;
      this.most = most;
    }

    static TextRange of(ValueRange.Texts range) {
      String most = range.most();
      return new TextRange(
          range.least().getBytes(StandardCharsets.UTF_8),
          most == null ? null : most.getBytes(StandardCharsets.UTF_8));
    }

    boolean beginsAfter(byte[] source, int from, int to) {
      return Arrays.compareUnsigned(least, 0, least.length, source, from, to) > 0;
    }

    boolean endsBefore(byte[] source, int from, int to) {
      byte[] end = most;
      return end != null && Arrays.compareUnsigned(end, 0, end.length, source, from, to) < 0;
    }

    boolean isEmpty() {
      return endsBefore(least, 0, least.length);
    }

    /** Tells whether all texts of this range are before those of another. */
    boolean isBefore(TextRange other) {
      return endsBefore(other.least, 0, other.least.length);
    }

    boolean endsBeforeTheEndOf(TextRange other) {
      byte[] end = other.most;
      return end == null ? most != null : endsBefore(end, 0, end.length);
    }
  }

  TextTest(List<ValueRange.Texts> all) {
    List<TextRange> sorted = all.stream()
        .map(TextRange::of)
        .filter(range -> !range.isEmpty())
        .sorted((a, b) -> Arrays.compareUnsigned(a.least, b.least))
        .toList();
    List<TextRange> joined = new ArrayList<>();
    for (TextRange range : sorted) {
      TextRange last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
      if (last == null || last.isBefore(range)) {
        joined.add(range);
      } else if (last.endsBeforeTheEndOf(range)) {
        joined.set(joined.size() - 1, new TextRange(last.least, range.most));
      }
    }
    this.ranges = List.copyOf(joined);
  }

  @Override
  public void test(FieldReader values, boolean[] matches) {
    int length = Math.toIntExact(values.totalLengthBytes());
    if (bytes.length < length) {
      bytes = new byte[length];
    }
    values.copyAll(bytes, 0);
    int from = 0;
    for (int i = 0; i < values.count(); i++) {
      int to = from + values.lengthBytes(i);
      matches[i] = isWithin(from, to);
      from = to;
    }
  }

  private boolean isWithin(int from, int to) {
    int low = 0;
    int high = ranges.size();
    while (low < high) { // Finds the first range that begins after the text.
      int middle = (low + high) >>> 1;
      if (ranges.get(middle).beginsAfter(bytes, from, to)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low > 0 && !ranges.get(low - 1).endsBefore(bytes, from, to);
  }
}
