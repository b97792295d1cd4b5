package io.zrecord.internal.store;

import io.zrecord.errors.TruncatedFileException;
import io.zrecord.storage.ReadableFile;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The bytes of a file up to its published end, in windows that are mapped when first needed and then kept. A window is at most
 * 1 GiB, so that positions in it are ints. Thread-safe, without locks once a window is there.
 */
final class Windows {
  private final ReadableFile file;
  private final long endBytes;
  private final int shift;
  private final AtomicReferenceArray<ByteBuffer> windows;
  private final Runnable onMapped;

  /**
   * @param endBytes published end
   * @param onMapped called for each new mapping
   * @throws TruncatedFileException if the file is shorter than its published end
   */
  Windows(ReadableFile file, long endBytes, Runnable onMapped) {
    if (file.lengthBytes() < endBytes) {
      throw new TruncatedFileException(
          file.path(),
          "Cannot read " + file.path() + ": it has " + file.lengthBytes() + " bytes, but "
              + endBytes + " were published. It was cut; restore it from a copy");
    }
    this.file = file;
    this.endBytes = endBytes;
    this.shift = Integer.numberOfTrailingZeros(file.preferredRegionBytes());
    this.windows = new AtomicReferenceArray<>(Math.toIntExact(((endBytes - 1) >> shift) + 1));
    this.onMapped = onMapped;
  }

  /** Full path of the file. */
  String path() {
    return file.path();
  }

  long endBytes() {
    return endBytes;
  }

  int count() {
    return windows.length();
  }

  /** The window that a position lies in. */
  int ordinal(long position) {
    return (int) (position >>> shift);
  }

  /** Place of a position in its window. */
  int within(long position) {
    return (int) position & ((1 << shift) - 1);
  }

  ByteBuffer window(int ordinal) {
    ByteBuffer window = windows.getAcquire(ordinal);
    return window != null ? window : map(ordinal);
  }

  /** The long at a multiple of 8. */
  long longAt(long position) {
    return window(ordinal(position)).getLong(within(position));
  }

  /** The int at a multiple of 4. */
  int intAt(long position) {
    return window(ordinal(position)).getInt(within(position));
  }

  /** Copies into an array, across windows if need be. */
  void copy(long position, byte[] target, int offset, int length) {
    int done = 0;
    while (done < length) {
      ByteBuffer window = window(ordinal(position + done));
      int at = within(position + done);
      int step = Math.min(length - done, window.capacity() - at);
      window.get(at, target, offset + done, step);
      done += step;
    }
  }

  private synchronized ByteBuffer map(int ordinal) {
    ByteBuffer window = windows.getAcquire(ordinal);
    if (window == null) {
      long position = (long) ordinal << shift;
      window = file.region(position, (int) Math.min(1L << shift, endBytes - position));
      windows.setRelease(ordinal, window);
      onMapped.run();
    }
    return window;
  }
}
