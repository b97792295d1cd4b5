package io.zrecord.verify;

import io.zrecord.internal.io.MutableFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Where in a journal the last entries of each record stand that it changes: 16 bytes of memory for each change, which the length of a
 * journal bounds. First filled, then sorted and read. Belongs to one thread.
 */
final class JournalOverlay {
  private long[] indices = new long[1024];
  private long[] positions = new long[1024];
  private int count;

  /** Remembers that the entries of a record stand at a position; later ones replace earlier ones. */
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

  /** Brings the changes in order of their indices; of one record the last one stays. */
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

  /** The first record from an index on that it changes; {@link Long#MAX_VALUE}: none. */
  long next(long index) {
    int at = from(index);
    return at < count ? indices[at] : Long.MAX_VALUE;
  }

  private int from(long index) {
    int at = Arrays.binarySearch(indices, 0, count, index);
    return at < 0 ? -at - 1 : at;
  }

  /** What it does to the entries of all fields. */
  interface OfFields {
    void apply(int field, long first, int count, EntryBlock block);
  }

  /** What it does, reading the journal itself, which the caller closes when all is done. */
  OfFields of(MutableFile journal) {
    byte[] bytes = new byte[JournalScan.ENTRY_BYTES];
    ByteBuffer entry = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    FileWindow window = new FileWindow(journal);
    return (field, first, records, block) -> {
      for (int i = from(first); i < count && indices[i] < first + records; i++) {
        long position = positions[i] + (long) field * JournalScan.ENTRY_BYTES;
        window.read(position, bytes, 0, bytes.length);
        block.put((int) (indices[i] - first), entry.getLong(0), entry.getLong(8), entry.getInt(16));
      }
    };
  }
}
