package io.zrecord;

import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.testing.ForwardingStorage;
import java.nio.ByteBuffer;

/** Another storage with windows of 4 KiB, so that values cross them. */
final class SmallWindowStorage extends ForwardingStorage {
  SmallWindowStorage(Storage storage) {
    super(storage);
  }

  @Override
  public ReadableFile open(String name) {
    return new SmallWindowFile(storage.open(name));
  }

  private record SmallWindowFile(ReadableFile file) implements ReadableFile {
    @Override
    public String path() {
      return file.path();
    }

    @Override
    public long lengthBytes() {
      return file.lengthBytes();
    }

    @Override
    public ByteBuffer region(long position, int regionBytes) {
      return file.region(position, regionBytes);
    }

    @Override
    public int preferredRegionBytes() {
      return 4096;
    }

    @Override
    public void close() {
      file.close();
    }
  }
}
