package io.zrecord.testing;

import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;

/** Another storage whose regions are copies in memory, as those of a remote one are. */
public final class UnmappedStorage extends ForwardingStorage {
  private final int regionBytes;
  private final AtomicInteger requests = new AtomicInteger();

  /**
   * Wraps a storage.
   *
   * @param regionBytes preferred length of regions, a power of two
   */
  public UnmappedStorage(Storage storage, int regionBytes) {
    super(storage);
    this.regionBytes = regionBytes;
  }

  /** Returns the number of regions asked for. */
  public int requests() {
    return requests.get();
  }

  @Override
  public ReadableFile open(String name) {
    return new UnmappedFile(storage.open(name), regionBytes, requests);
  }

  private record UnmappedFile(ReadableFile file, int preferredRegionBytes, AtomicInteger requests)
      implements ReadableFile {
    @Override
    public String path() {
      return file.path();
    }

    @Override
    public long lengthBytes() {
      return file.lengthBytes();
    }

    @Override
    public ByteBuffer region(long position, int lengthBytes) {
      requests.incrementAndGet();
      return ByteBuffer.allocate(lengthBytes)
          .put(file.region(position, lengthBytes))
          .flip()
          .asReadOnlyBuffer()
          .order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public boolean isMapped() {
      return false;
    }

    @Override
    public void close() {
      file.close();
    }
  }
}
