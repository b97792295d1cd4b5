package io.zrecord.storage.s3;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.storage.ReadableFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * An object whose regions are read into memory, each with one request. All regions come from the
 * same object: the first answer's ETag is a condition of the later requests. Thread-safe.
 */
final class S3ReadableFile implements ReadableFile {
  private static final int REGION_BYTES = 8 << 20;

  private final S3Reads reads;
  private final String key;
  private final String path;
  private final long lengthBytes;
  private final AtomicReference<@Nullable String> etag;

  S3ReadableFile(S3Reads reads, String key, String path, long lengthBytes, @Nullable String etag) {
    this.reads = reads;
    this.key = key;
    this.path = path;
    this.lengthBytes = lengthBytes;
    this.etag = new AtomicReference<>(etag);
  }

  @Override
  public String path() {
    return path;
  }

  @Override
  public long lengthBytes() {
    return lengthBytes;
  }

  @Override
  public ByteBuffer region(long position, int regionBytes) {
    if (position < 0
        || regionBytes < 0
        || regionBytes > 1 << 30
        || position > lengthBytes - regionBytes) {
      throw new IllegalArgumentException("Region of " + regionBytes + " bytes at " + position
          + " is not within " + path + " of " + lengthBytes + " bytes");
    }
    byte[] content = regionBytes == 0 ? new byte[0] : read(position, regionBytes);
    return ByteBuffer.wrap(content).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  private byte[] read(long position, int regionBytes) {
    S3Reads.Content content = reads.range(key, path, position, regionBytes, etag.get());
    String found = content.etag();
    // Threads that read the first regions side by side had no condition yet.
    if (found != null && !etag.compareAndSet(null, found) && !found.equals(etag.get())) {
      throw new CorruptDataException(
          path,
          "Cannot read bytes " + position + " to " + (position + regionBytes) + " of " + path
              + ": another object has that name now. Objects of a dataset are never replaced: find"
              + " out who did, and restore it from a copy");
    }
    return content.bytes();
  }

  @Override
  public int preferredRegionBytes() {
    return REGION_BYTES;
  }

  @Override
  public boolean isMapped() {
    return false;
  }

  @Override
  public void close() {}
}
