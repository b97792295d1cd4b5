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
  private final byte[][] least;

  /** The last of the texts of each range; null for one that does not end. */
  private final byte @Nullable [][] most;

  private byte[] bytes = new byte[0];

  /** A range of texts in UTF-8. */
  private record Bytes(byte[] least, byte @Nullable [] most) {
    static Bytes of(ValueRange.Texts range) {
      String most = range.most();
      return new Bytes(
          range.least().getBytes(StandardCharsets.UTF_8),
          most == null ? null : most.getBytes(StandardCharsets.UTF_8));
    }

    boolean has(byte[] text) {
      return Arrays.compareUnsigned(least, text) <= 0 && isNotBefore(text);
    }

    boolean isNotBefore(byte[] text) {
      return most == null || Arrays.compareUnsigned(text, most) <= 0;
    }
  }

  TextTest(List<ValueRange.Texts> ranges) {
    List<Bytes> joined = new ArrayList<>();
    ranges.stream()
        .map(Bytes::of)
        .filter(range -> range.has(range.least()))
        .sorted((a, b) -> Arrays.compareUnsigned(a.least(), b.least()))
        .forEach(range -> {
          Bytes last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
          if (last == null || !last.isNotBefore(range.least())) {
            joined.add(range);
          } else if (range.most() == null || !last.isNotBefore(range.most())) {
            joined.set(joined.size() - 1, new Bytes(last.least(), range.most()));
          }
        });
    this.least = joined.stream().map(Bytes::least).toArray(byte[][]::new);
    this.most = joined.stream().map(Bytes::most).toArray(byte[][]::new);
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
    int high = least.length;
    while (low < high) { // Finds the first range that begins after the text.
      int middle = (low + high) >>> 1;
      byte[] first = least[middle];
      if (Arrays.compareUnsigned(first, 0, first.length, bytes, from, to) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == 0) {
      return false;
    }
    byte[] last = most[low - 1];
    return last == null || Arrays.compareUnsigned(bytes, from, to, last, 0, last.length) <= 0;
  }
}
