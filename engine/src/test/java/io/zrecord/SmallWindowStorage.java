package io.zrecord;

import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.List;

/** Another storage with windows of 4 KiB, so that values cross them. */
record SmallWindowStorage(Storage storage) implements Storage {
  @Override
  public String location() {
    return storage.location();
  }

  @Override
  public boolean exists(String name) {
    return storage.exists(name);
  }

  @Override
  public long lengthBytes(String name) {
    return storage.lengthBytes(name);
  }

  @Override
  public List<StoredFile> list(String directory) {
    return storage.list(directory);
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return storage.read(name, maxBytes);
  }

  @Override
  public ReadableFile open(String name) {
    return new SmallWindowFile(storage.open(name));
  }

  @Override
  public WritableFile create(String name) {
    return storage.create(name);
  }

  @Override
  public boolean publish(String name, byte[] content) {
    return storage.publish(name, content);
  }

  @Override
  public boolean rename(String from, String to) {
    return storage.rename(from, to);
  }

  @Override
  public void forceDirectory(String directory) {
    storage.forceDirectory(directory);
  }

  @Override
  public void delete(String name) {
    storage.delete(name);
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
