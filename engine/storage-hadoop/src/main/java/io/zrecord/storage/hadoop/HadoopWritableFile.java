package io.zrecord.storage.hadoop;

import io.zrecord.storage.WritableFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A file being written. A file that was not finished is aborted where the file system can do that,
 * and deleted where it cannot. Belongs to one thread.
 */
final class HadoopWritableFile implements WritableFile {
  private static final int COPIED_BYTES = 1 << 16;

  private final FileSystem files;
  private final Path file;
  private final FSDataOutputStream stream;
  private final boolean isWhole;
  private final byte[] copied = new byte[COPIED_BYTES];
  private long positionBytes;
  private boolean isClosed;

  /**
   * Makes a file.
   *
   * @param isWhole whether the file system has files as a whole or not at all, as a store of
   *     objects
   */
  HadoopWritableFile(FileSystem files, Path file, FSDataOutputStream stream, boolean isWhole) {
    this.files = files;
    this.file = file;
    this.stream = stream;
    this.isWhole = isWhole;
  }

  @Override
  public String path() {
    return file.toString();
  }

  @Override
  public long positionBytes() {
    return positionBytes;
  }

  @Override
  public void write(ByteBuffer... buffers) {
    try {
      for (ByteBuffer buffer : buffers) {
        write(buffer);
      }
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "write to", file, e);
    }
  }

  private void write(ByteBuffer buffer) throws IOException {
    int length = buffer.remaining();
    if (buffer.hasArray()) {
      stream.write(buffer.array(), buffer.arrayOffset() + buffer.position(), length);
      buffer.position(buffer.limit());
    } else {
      while (buffer.hasRemaining()) {
        int step = Math.min(buffer.remaining(), copied.length);
        buffer.get(copied, 0, step);
        stream.write(copied, 0, step);
      }
    }
    positionBytes += length;
  }

  /** Forces what was written, on a file system that can. A store of objects does so at the end. */
  @Override
  public void force() {
    try {
      if (stream.hasCapability("hsync")) {
        stream.hsync();
      }
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "force", file, e);
    }
  }

  @Override
  public void finish() {
    isClosed = true;
    try {
      stream.close();
    } catch (IOException e) {
      if (!isThere()) {
        throw HadoopErrors.of(files.getConf(), "finish", file, e);
      }
    }
  }

  /**
   * Tells whether the file is there after a failure: the answer may have been lost, and the end of
   * an upload in parts cannot be repeated. Nobody else has the name.
   */
  private boolean isThere() {
    // A time-out is an InterruptedIOException too.
    if (!isWhole || Thread.currentThread().isInterrupted()) {
      return false;
    }
    try {
      return files.getFileStatus(file).getLen() == positionBytes;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    if (abort()) {
      return;
    }
    // Ends the lease, so that the name can be deleted.
    try {
      stream.close();
    } catch (IOException e) {
      // The file is given up in any case.
    }
    try {
      files.delete(file, false);
    } catch (IOException e) {
      // A part of the file stays, which nobody names; a sweep finds it.
    }
  }

  private boolean abort() {
    try {
      stream.abort();
      return true;
    } catch (UnsupportedOperationException e) {
      return false;
    }
  }
}
