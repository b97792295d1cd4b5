package io.zrecord.internal.verify;

import io.zrecord.errors.StorageException;
import io.zrecord.internal.io.MutableFile;
import java.nio.ByteBuffer;

/**
 * Reads a file by position through a buffer. Reads far ahead where reads follow each other, and
 * only the wanted bytes otherwise. Belongs to one thread.
 */
public final class FileWindow implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 20;
  private static final int SMALL_READ_BYTES = 1 << 12;

  private final MutableFile file;
  private final byte[] buffer;
  private long from;
  private int count;
  /** Position up to which nothing is read ahead, because some bytes before it cannot be read. */
  private long carefulUntil;

  public FileWindow(MutableFile file) {
    this.file = file;
    this.buffer =
        new byte[(int) Math.max(SMALL_READ_BYTES, Math.min(BUFFER_BYTES, file.lengthBytes()))];
  }

  public String path() {
    return file.path();
  }

  public long lengthBytes() {
    return file.lengthBytes();
  }

  /**
   * Copies bytes and returns their number, which is smaller than {@code length} only at the end of
   * the file.
   *
   * @throws StorageException if one of the bytes cannot be read; other bytes can be tried
   */
  public int read(long position, byte[] target, int offset, int length) {
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

  /**
   * Fills the buffer. A failure of bytes that are only read ahead is ignored, so that a bad sector
   * does not cost the bytes before it.
   */
  private void fill(long at, int wanted) {
    long gap = at - (from + count);
    boolean isNext = gap >= 0 && gap < SMALL_READ_BYTES;
    int needed = Math.min(buffer.length, wanted);
    int length = at < carefulUntil
        ? needed
        : isNext ? buffer.length : Math.min(buffer.length, Math.max(SMALL_READ_BYTES, wanted));
    from = at;
    count = 0;
    try {
      count = readAt(at, length);
    } catch (StorageException e) {
      if (length == needed) {
        throw e;
      }
      carefulUntil = at + length;
      count = readAt(at, needed);
    }
  }

  private int readAt(long at, int length) {
    return Math.max(0, file.read(at, ByteBuffer.wrap(buffer, 0, length)));
  }

  @Override
  public void close() {
    file.close();
  }
}
