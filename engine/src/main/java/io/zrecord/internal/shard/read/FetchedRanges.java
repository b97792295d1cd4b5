package io.zrecord.internal.shard.read;

import java.util.Arrays;

/** The ranges of one chunk that were fetched for a selection. Belongs to one thread. */
final class FetchedRanges {
  private final long[] from;
  private final long[] to;
  private final int[] firstWindow;
  private final int pieceBytes;

  /**
   * Keeps ranges.
   *
   * @param from first byte of each range, ascending
   * @param to byte after the last of each range; ranges do not overlap
   * @param firstWindow number of the window with the first byte of each range. The other windows of
   *     a range follow
   * @param pieceBytes length of each window of a range but the last
   */
  FetchedRanges(long[] from, long[] to, int[] firstWindow, int pieceBytes) {
    this.from = from;
    this.to = to;
    this.firstWindow = firstWindow;
    this.pieceBytes = pieceBytes;
  }

  /** Returns the {@link Place} of bytes; -1 if they were not fetched. */
  long find(long position, long length) {
    int found = Arrays.binarySearch(from, position);
    int range = found >= 0 ? found : -found - 2;
    if (range < 0 || position + length > to[range]) {
      return -1;
    }
    long within = position - from[range];
    return Place.of(firstWindow[range] + (int) (within / pieceBytes), (int) (within % pieceBytes));
  }
}
