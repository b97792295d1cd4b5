package io.zrecord.rebalance.order;

import io.zrecord.read.FieldReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The values of a field as words of 64 bits, which compare without sign as the values do. Each pass
 * reads the field once from the first record to the last. Belongs to one thread.
 */
final class SortKeys {
  private static final int BATCH_RECORDS = 1 << 14;
  private static final long BATCH_BYTES = 4 << 20;
  private static final int MAX_VALUE_BYTES = 1024;

  private final FieldReader reader;
  private final long length;
  private final KeyWords words;
  private int longestBytes;

  private SortKeys(FieldReader reader, long length, KeyWords words) {
    this.reader = reader;
    this.length = length;
    this.words = words;
  }

  static SortKeys of(FieldReader reader, long length, Direction direction) {
    return new SortKeys(reader, length, new KeyWords(reader.field().type(), direction));
  }

  /**
   * Reads all values once.
   *
   * @param order receives the records with a value in index order, then the records without
   * @return the number of records with a value
   * @throws IllegalArgumentException if a value is too long
   */
  int scan(int[] order) {
    int[] counts = {0, order.length};
    forEach((record, value) -> {
      if (value == null) {
        order[--counts[1]] = record;
        return;
      }
      order[counts[0]++] = record;
      longestBytes = Math.max(longestBytes, value.remaining());
    });
    for (int low = counts[0], high = order.length - 1; low < high; low++, high--) {
      int swap = order[low];
      order[low] = order[high];
      order[high] = swap;
    }
    return counts[0];
  }

  /** Returns the number of words of a key. Call this after {@link #scan}. */
  int wordCount() {
    return words.countOf(longestBytes);
  }

  /**
   * Sets the word with the given number, 0 being the most significant, for each record with a
   * value.
   */
  void fill(int word, long[] keys) {
    int count = wordCount();
    forEach((record, value) -> {
      if (value != null) {
        keys[record] = words.word(value, word, count);
      }
    });
  }

  /** Checks the lengths of values before the values are decoded. */
  private void requireShort(long first, int count) {
    for (int i = 0; i < count; i++) {
      if (reader.lengthBytes(i) > MAX_VALUE_BYTES) {
        throw new IllegalArgumentException(
            "Cannot order records by field '" + reader.field().name() + "': the value of record "
                + (first + i) + " has " + reader.lengthBytes(i) + " bytes, and at most "
                + MAX_VALUE_BYTES + " are compared; choose another field");
      }
    }
  }

  private interface Visitor {
    void value(int record, @org.jspecify.annotations.Nullable ByteBuffer bytes);
  }

  private void forEach(Visitor visitor) {
    byte[] column = new byte[0];
    for (long first = 0; first < length; first += reader.count()) {
      int most = (int) Math.min(BATCH_RECORDS, length - first);
      int count = reader.selectRange(first, most, BATCH_BYTES);
      requireShort(first, count);
      int bytes = Math.toIntExact(reader.totalLengthBytes());
      if (column.length < bytes) {
        // The shorter array may go before the longer one exists.
        column = new byte[0];
        column = new byte[bytes];
      }
      reader.copyAll(column, 0);
      ByteBuffer values = ByteBuffer.wrap(column).order(ByteOrder.LITTLE_ENDIAN);
      int width = reader.field().valueWidthBytes().orElse(-1);
      int at = 0;
      for (int i = 0; i < count; i++) {
        int valueBytes = width >= 0 ? width : reader.lengthBytes(i);
        values.limit(at + valueBytes).position(at);
        visitor.value((int) (first + i), reader.isAbsent(i) ? null : values);
        at += valueBytes;
      }
    }
  }
}
