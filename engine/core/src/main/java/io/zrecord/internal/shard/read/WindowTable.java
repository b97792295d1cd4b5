package io.zrecord.internal.shard.read;

import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.read.ReadMetrics;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The windows of all chunks that one reader uses, in one array. A place in a chunk becomes the
 * number of a window and a position in it: two ints, with which a copy needs no further look-up.
 * The windows of a chunk have consecutive numbers. Belongs to one thread.
 */
final class WindowTable {
  /**
   * Number of the window of absent and empty values, so that copies need not test for such values.
   */
  static final int EMPTY = 0;

  private static final int INITIAL_CAPACITY = 8;
  private static final int LINE_BYTES = 64;

  /** Bytes up to which a loop takes less time than the call of a bulk copy. */
  private static final int SMALL_BYTES = 16;

  private static final ByteBuffer NO_BYTES =
      ByteBuffer.allocateDirect(LINE_BYTES).order(ByteOrder.LITTLE_ENDIAN).asReadOnlyBuffer();

  private ByteBuffer[] windows = new ByteBuffer[INITIAL_CAPACITY];
  private final List<Part> chunks = new ArrayList<>();
  private int count = 1;
  private final Map<Integer, String> pagePaths = new HashMap<>();
  private long heldBytes;
  private boolean isReadInOrder;
  private long sink;

  /** A chunk, and the number of its first window. */
  private record Part(int firstWindow, Windows windows) {}

  WindowTable() {
    windows[EMPTY] = NO_BYTES;
  }

  int count() {
    return count;
  }

  /** Forgets all chunks, so that their maps can go. */
  void clear() {
    Arrays.fill(windows, 1, count, null);
    chunks.clear();
    pagePaths.clear();
    count = 1;
    heldBytes = 0;
  }

  /** Forgets the windows of chunks that take memory. Their numbers stay. */
  void dropHeld() {
    for (Part chunk : chunks) {
      if (!chunk.windows.isMapped()) {
        Arrays.fill(windows, chunk.firstWindow, chunk.firstWindow + chunk.windows.count(), null);
      }
    }
    heldBytes = 0;
  }

  /** Returns the bytes of windows that take memory for as long as this table holds them. */
  long heldBytes() {
    return heldBytes;
  }

  /** Adds a chunk and returns the number of its first window. */
  int add(OpenShard shard, int chunkOrdinal, ReadMetrics metrics) {
    Windows chunk = shard.chunk(chunkOrdinal, metrics).windows();
    int first = count;
    count += chunk.count();
    if (count > windows.length) {
      windows = Arrays.copyOf(windows, Math.max(count, 2 * windows.length));
    }
    chunks.add(new Part(first, chunk));
    return first;
  }

  /** Adds a window that is no part of a chunk, and returns its number. */
  int addPage(ByteBuffer page) {
    int number = count++;
    if (count > windows.length) {
      windows = Arrays.copyOf(windows, 2 * windows.length);
    }
    windows[number] = page;
    return number;
  }

  /** Adds a window with bytes of a file, and returns its number. */
  int addPage(ByteBuffer page, String path) {
    int number = addPage(page);
    pagePaths.put(number, path);
    return number;
  }

  /** Removes such a window. Its number is used again only if it was the last. */
  void removePage(int number) {
    windows[number] = null;
    pagePaths.remove(number);
    if (number == count - 1) {
      count--;
    }
  }

  /** Tells whether {@link #prepare} need not be called for bytes of a chunk. */
  boolean isReady(int firstWindow, Windows chunk, long position, long length) {
    if (length == 0) {
      // Empty bytes may be at the end of a chunk, where no window begins.
      return true;
    }
    int last = firstWindow + chunk.ordinal(position + length - 1);
    for (int i = firstWindow + chunk.ordinal(position); i <= last; i++) {
      if (windows[i] == null) {
        return false;
      }
    }
    return true;
  }

  /**
   * Maps the windows of the bytes {@code [position, position + length)} of a chunk, or fetches
   * them.
   *
   * @param aheadBytes position before which bytes will be read in order; 0 if that is not known
   */
  void prepare(
      int firstWindow,
      Windows chunk,
      long position,
      long length,
      long aheadBytes,
      ReadMetrics metrics) {
    int last = chunk.ordinal(position + length - 1);
    for (int i = chunk.ordinal(position); i <= last; i++) {
      if (windows[firstWindow + i] == null) {
        ByteBuffer window = chunk.window(i, aheadBytes, metrics);
        windows[firstWindow + i] = window;
        heldBytes += chunk.isMapped() ? 0 : window.capacity();
      }
    }
  }

  /** Tells whether records are read in the order of their index. */
  boolean isReadInOrder() {
    return isReadInOrder;
  }

  /** Says whether records are read in the order of their index, from now on. */
  void setReadInOrder(boolean isInOrder) {
    isReadInOrder = isInOrder;
  }

  ByteBuffer get(int window) {
    return windows[window];
  }

  /** Tells whether bytes continue in the next window. */
  boolean crosses(int window, int position, int length) {
    return length > windows[window].capacity() - position;
  }

  /**
   * Reads the first byte of many values, so that their cache and TLB misses overlap instead of
   * queueing.
   */
  void touch(int[] window, int[] position, int from, int to) {
    long sum = 0;
    ByteBuffer[] table = windows;
    for (int i = from; i < to; i++) {
      sum += table[window[i]].get(position[i]);
    }
    sink += sum;
  }

  /** Copies bytes, across windows if need be. */
  void copy(int window, int position, byte[] target, int offset, int length) {
    int number = window;
    int at = position;
    int done = 0;
    while (done < length) {
      ByteBuffer source = windows[number++];
      int step = Math.min(length - done, source.capacity() - at);
      source.get(at, target, offset + done, step);
      done += step;
      at = 0;
    }
  }

  /** Copies bytes, across windows if need be, without moving the target's position. */
  void copy(int window, int position, ByteBuffer target, int offset, int length) {
    ByteBuffer only = windows[window];
    if (length <= SMALL_BYTES && length <= only.capacity() - position) {
      for (int i = 0; i < length; i++) {
        target.put(offset + i, only.get(position + i));
      }
      return;
    }
    int number = window;
    int at = position;
    int done = 0;
    while (done < length) {
      ByteBuffer source = windows[number++];
      int step = Math.min(length - done, source.capacity() - at);
      target.put(offset + done, source, at, step);
      done += step;
      at = 0;
    }
  }

  int intAt(int window, int position) {
    return windows[window].getInt(position);
  }

  /** Returns the full path of the chunk that a window belongs to. */
  String path(int window) {
    for (Part chunk : chunks) {
      if (window >= chunk.firstWindow && window < chunk.firstWindow + chunk.windows.count()) {
        return chunk.windows.path();
      }
    }
    String path = pagePaths.get(window);
    if (path == null) {
      throw new IllegalArgumentException("No window " + window);
    }
    return path;
  }

  /** Returns a value that keeps reads from being optimized away. */
  long sink() {
    return sink;
  }
}
