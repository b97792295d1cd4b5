package io.zrecord.verify;

import io.zrecord.internal.io.MutableFile;
import java.nio.ByteBuffer;

/**
 * Reads a file by position through a buffer: far ahead where reads follow each other, only what is wanted where they do not. Belongs
 * to one thread.
 */
final class FileWindow implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 20;
  private static final int SMALL_READ_BYTES = 1 << 12;

  private final MutableFile file;
  private final byte[] buffer;
  private long from;
  private int count;

  FileWindow(MutableFile file) {
    this.file = file;
    this.buffer =
        new byte[(int) Math.max(SMALL_READ_BYTES, Math.min(BUFFER_BYTES, file.lengthBytes()))];
  }

  String path() {
    return file.path();
  }

  long lengthBytes() {
    return file.lengthBytes();
  }

  /** Copies bytes; returns how many there were, fewer only at the end of the file. */
  int read(long position, byte[] target, int offset, int length) {
    int done = 0;
    while (done < length) {
      long at = position + done;
      if (at < from || at >= from + count) {
        fill(at, length - done);
        if (count == 0) {
          break;
        }
      }
      int step = (int) Math.min(length - done, from + count - at);
      System.arraycopy(buffer, (int) (at - from), target, offset + done, step);
      done += step;
    }
    return done;
  }

  private void fill(long at, int wanted) {
    long gap = at - (from + count);
    boolean isNext = gap >= 0 && gap < SMALL_READ_BYTES;
    int length =
        isNext ? buffer.length : Math.min(buffer.length, Math.max(SMALL_READ_BYTES, wanted));
    from = at;
    count = Math.max(0, file.read(at, ByteBuffer.wrap(buffer, 0, length)));
  }

  @Override
  public void close() {
    file.close();
  }
}
