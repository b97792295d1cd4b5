package io.zrecord.internal.shard.read;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The values of one selection that were decoded when they were selected, in windows of their own.
 * So they are copied like values of a file. Memory is used again for the next selection. Belongs to
 * one thread.
 */
final class DecodedValues {
  private static final int LEAST_PAGE_BYTES = 1 << 16;

  /** Longest page that is kept for the next selection, or made longer than need be. */
  private static final int MOST_PAGE_BYTES = 1 << 24;

  private final WindowTable table;
  private final List<Page> pages = new ArrayList<>();
  private long totalBytes;
  private int fill;
  private boolean isInOrder;

  /** A buffer and the number of its window. */
  private record Page(ByteBuffer bytes, int window) {}

  DecodedValues(WindowTable table) {
    this.table = table;
  }

  /** Drops the values of the selection before. */
  void clear() {
    if (totalBytes > 0) {
      boolean isLone = pages.size() == 1 && pages.get(0).bytes.capacity() <= MOST_PAGE_BYTES;
      if (!isLone) {
        for (int i = pages.size() - 1; i >= 0; i--) {
          table.removePage(pages.get(i).window);
        }
        pages.clear();
      }
      if (pages.isEmpty() && totalBytes <= MOST_PAGE_BYTES) {
        addPage((int) totalBytes);
      }
      totalBytes = 0;
    }
    fill = 0;
    isInOrder = true;
  }

  /** Forgets all windows, together with the table. */
  void forget() {
    pages.clear();
    totalBytes = 0;
    fill = 0;
  }

  /** Notes that values do not come in the order of the selection. */
  void setUnordered() {
    isInOrder = false;
  }

  /** Copies bytes next to the bytes before. Then {@link #window} and {@link #end} say where. */
  void add(byte[] source, int offset, int length) {
    if (pages.isEmpty() || last().capacity() - fill < length) {
      int twice = pages.isEmpty() ? LEAST_PAGE_BYTES : 2 * last().capacity();
      addPage(Math.max(length, Math.min(twice, MOST_PAGE_BYTES)));
      fill = 0;
    }
    last().put(fill, source, offset, length);
    fill += length;
    totalBytes += length;
  }

  /** Returns the bytes of all values. */
  long totalBytes() {
    return totalBytes;
  }

  /** Returns the window of the bytes that were added last. */
  int window() {
    return pages.get(pages.size() - 1).window;
  }

  /** Returns the position in the window after the bytes that were added last. */
  int end() {
    return fill;
  }

  /** Tells whether a window is one of decoded values, whose memory is used again. */
  boolean owns(int window) {
    for (Page page : pages) {
      if (page.window == window) {
        return true;
      }
    }
    return false;
  }

  /** Tells whether the only values of a selection are here, next to each other and in order. */
  boolean areAll(long selectedBytes) {
    return isInOrder && totalBytes > 0 && totalBytes == selectedBytes && pages.size() == 1;
  }

  private ByteBuffer last() {
    return pages.get(pages.size() - 1).bytes;
  }

  private void addPage(int bytes) {
    // Room to spare: the next selection has a little more or less.
    int rounded = bytes <= MOST_PAGE_BYTES / 2
        ? Math.max(LEAST_PAGE_BYTES, 2 * Integer.highestOneBit(bytes))
        : bytes;
    // Direct as the windows of files are, so that copies from either are one loop for the compiler.
    ByteBuffer page = ByteBuffer.allocateDirect(rounded);
    int window = table.addPage(page.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN));
    pages.add(new Page(page, window));
  }
}
