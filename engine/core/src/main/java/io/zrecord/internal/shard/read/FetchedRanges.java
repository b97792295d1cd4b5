package io.zrecord.internal.shard.read;

import java.util.Arrays;

/** The ranges of one chunk that were fetched for a selection. Belongs to one thread. */
final class FetchedRanges {
  private final long[] from;
  private final long[] to;
  private final long[] lastEnd;
  private final int[] firstWindow;
  private final int pieceBytes;

  /**
   * Keeps ranges, which may overlap.
   *
   * @param from first byte of each range, ascending
   * @param to byte after the last of each range
   * @param firstWindow number of the window with the first byte of each range. The other windows of
   *     a range follow
   * @param pieceBytes length of each window of a range but the last
   */
  FetchedRanges(long[] from, long[] to, int[] firstWindow, int pieceBytes) {
    this.from = from;
    this.to = to;
    this.lastEnd = to.clone();
    this.firstWindow = firstWindow;
    this.pieceBytes = pieceBytes;
    for (int i = 1; i < lastEnd.length; i++) {
      lastEnd[i] = Math.max(lastEnd[i - 1], lastEnd[i]);
    }
  }

  /** Returns the {@link Place} of bytes; -1 if they were not fetched. */
  long find(long position, long length) {
    int found = Arrays.binarySearch(from, position);
    int range = found >= 0 ? found : -found - 2;
    while (range >= 0 && position + length <= lastEnd[range]) {
      if (position + length <= to[range]) {
        long within = position - from[range];
        return Place.of(
            firstWindow[range] + (int) (within / pieceBytes), (int) (within % pieceBytes));
      }
      range--;
    }
    return -1;
  }
}
