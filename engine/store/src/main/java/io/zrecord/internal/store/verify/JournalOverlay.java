package io.zrecord.internal.store.verify;

import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.verify.EntryBlock;
import io.zrecord.internal.verify.FileWindow;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The positions in a journal of the last entries of each changed record. Takes 16 bytes of memory
 * for each change, which the length of a journal bounds. Filled first, then sorted and read.
 * Belongs to one thread.
 */
final class JournalOverlay {
  private long[] indices = new long[1024];
  private long[] positions = new long[1024];
  private int count;

  /** Adds the position of a record's entries. Later positions replace earlier ones. */
  void add(long index, long position) {
    if (count == indices.length) {
      indices = Arrays.copyOf(indices, Math.multiplyExact(count, 2));
      positions = Arrays.copyOf(positions, Math.multiplyExact(count, 2));
    }
    indices[count] = index;
    positions[count++] = position;
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** Sorts the changes by index, and keeps the last change of each record. */
  void sort() {
    Integer[] order = new Integer[count];
    Arrays.setAll(order, i -> i);
    // Stable, so that the last change of a record is the last of its group.
    Arrays.sort(order, (a, b) -> Long.compare(indices[a], indices[b]));
    long[] sortedIndices = new long[count];
    long[] sortedPositions = new long[count];
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (kept > 0 && sortedIndices[kept - 1] == indices[order[i]]) {
        kept--;
      }
      sortedIndices[kept] = indices[order[i]];
      sortedPositions[kept++] = positions[order[i]];
    }
    indices = sortedIndices;
    positions = sortedPositions;
    count = kept;
  }

  /**
   * Returns the first changed record at or after {@code index}; {@link Long#MAX_VALUE} if there is
   * none.
   */
  long next(long index) {
    int at = from(index);
    return at < count ? indices[at] : Long.MAX_VALUE;
  }

  private int from(long index) {
    int at = Arrays.binarySearch(indices, 0, count, index);
    return at < 0 ? -at - 1 : at;
  }

  /** The changes to the entries of all fields. */
  interface OfFields {
    void apply(int field, long first, int count, EntryBlock block);
  }

  /**
   * Returns the changes, read from {@code journal}. The caller closes the journal after the last
   * use.
   */
  OfFields of(MutableFile journal) {
    byte[] bytes = new byte[JournalRecord.ENTRY_BYTES];
    ByteBuffer entry = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    FileWindow window = new FileWindow(journal);
    return (field, first, records, block) -> {
      for (int i = from(first); i < count && indices[i] < first + records; i++) {
        long position = positions[i] + (long) field * JournalRecord.ENTRY_BYTES;
        window.read(position, bytes, 0, bytes.length);
        block.put((int) (indices[i] - first), entry.getLong(0), entry.getLong(8), entry.getInt(16));
      }
    };
  }
}
