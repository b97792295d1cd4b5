package io.zrecord.storage.cache;

import io.zrecord.storage.ReadableFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A file whose regions are put together from blocks of a cache. A region is an array of its own.
 */
record CachedFile(BlockCache cache, String location, String name, ReadableFile file)
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
    if (position < 0
        || lengthBytes < 0
        || lengthBytes > 1 << 30
        || position > lengthBytes() - lengthBytes) {
      throw new IllegalArgumentException("Region of " + lengthBytes + " bytes at " + position
          + " is not within " + path() + " of " + lengthBytes() + " bytes");
    }
    byte[] content = new byte[lengthBytes];
    if (lengthBytes > 0) {
      new RegionRead(cache, location, name, file, position, content).run();
    }
    return ByteBuffer.wrap(content).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public int preferredRegionBytes() {
    return file.preferredRegionBytes();
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
