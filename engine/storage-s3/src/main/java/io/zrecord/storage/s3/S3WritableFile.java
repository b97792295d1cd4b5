package io.zrecord.storage.s3;

import io.zrecord.errors.StorageException;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An object being written. Bytes are collected into parts of 16 MiB, which are uploaded while the
 * next part is collected. An object of less than a part is one request. Nothing is visible before
 * {@link #finish}. Belongs to one thread.
 */
final class S3WritableFile implements WritableFile {
  static final int PART_BYTES = 16 << 20;

  private static final int FIRST_BUFFER_BYTES = 64 << 10;
  /** What an upload consists of at most, as S3 has it. */
  private static final int PARTS = 10_000;

  private final S3Writes writes;
  private byte[] part = new byte[FIRST_BUFFER_BYTES];
  private int partBytes;
  private long positionBytes;
  private @Nullable PartUploads uploads;
  private boolean isClosed;
  /** Whether an operation began and did not end well. */
  private boolean isBroken;

  S3WritableFile(S3Writes writes) {
    this.writes = writes;
  }

  @Override
  public String path() {
    return writes.path();
  }

  @Override
  public long positionBytes() {
    return positionBytes;
  }

  @Override
  public void write(ByteBuffer... buffers) {
    requireOpen();
    isBroken = true;
    for (ByteBuffer buffer : buffers) {
      while (buffer.hasRemaining()) {
        if (partBytes == PART_BYTES) {
          upload();
        }
        int step = Math.min(buffer.remaining(), PART_BYTES - partBytes);
        reserve(partBytes + step);
        buffer.get(part, partBytes, step);
        partBytes += step;
        positionBytes += step;
      }
    }
    isBroken = false;
  }

  private void requireOpen() {
    if (isClosed) {
      throw new IllegalStateException(path() + " is closed");
    }
    if (isBroken) {
      throw new IllegalStateException(
          "A write to " + path() + " failed before; close the file and write another");
    }
  }

  private void reserve(int bytes) {
    if (bytes > part.length) {
      int doubled = Math.min(PART_BYTES, Math.max(bytes, part.length * 2));
      part = Arrays.copyOf(part, doubled);
    }
  }

  private void upload() {
    if (positionBytes >= (long) PARTS * PART_BYTES) {
      throw new StorageException(
          path(),
          "Cannot write to " + path() + ": an object of more than " + positionBytes
              + " bytes has too many parts for S3; write chunks that are shorter");
    }
    PartUploads started = uploads;
    if (started == null) {
      started = new PartUploads(writes);
      uploads = started;
    }
    part = started.add(part, partBytes);
    partBytes = 0;
  }

  /** Does nothing: an object is durable when it is finished, and not before. */
  @Override
  public void force() {
    requireOpen();
  }

  @Override
  public void finish() {
    requireOpen();
    isBroken = true;
    PartUploads started = uploads;
    if (started == null) {
      writes.put(part, partBytes);
    } else {
      if (partBytes > 0) {
        upload();
      }
      started.complete();
    }
    release();
  }

  @Override
  public void close() {
    if (!isClosed && uploads != null) {
      uploads.abort();
    }
    release();
  }

  private void release() {
    isClosed = true;
    part = new byte[0];
    uploads = null;
  }
}
