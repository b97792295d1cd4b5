package io.zrecord.internal.io;

import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;

/** The files of a storage that is only read. Thread-safe, as the storage is. */
public final class StorageFiles implements MutableFiles {
  private final Storage storage;

  public StorageFiles(Storage storage) {
    this.storage = storage;
  }

  @Override
  public String location() {
    return storage.location();
  }

  @Override
  public boolean exists(String name) {
    return storage.exists(name);
  }

  @Override
  public List<String> list(String directory) {
    return storage.list(directory).stream().map(StoredFile::name).toList();
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return storage.read(name, maxBytes);
  }

  @Override
  public MutableFile open(String name, boolean writable) {
    if (writable) {
      throw readOnly();
    }
    return new OpenFile(storage.open(name));
  }

  @Override
  public MutableFile create(String name) {
    throw readOnly();
  }

  @Override
  public void replace(String name, Consumer<MutableFile> writing, Runnable lastCheck) {
    throw readOnly();
  }

  @Override
  public void forceDirectory(String directory) {
    throw readOnly();
  }

  @Override
  public void dropReplacements() {
    throw readOnly();
  }

  @Override
  public void delete(String name) {
    throw readOnly();
  }

  @Override
  public void delete(List<String> names, Runnable lastCheck) {
    throw readOnly();
  }

  private static UnsupportedOperationException readOnly() {
    return new UnsupportedOperationException("These files are only read");
  }

  private record OpenFile(ReadableFile file) implements MutableFile {
    @Override
    public String path() {
      return file.path();
    }

    @Override
    public long lengthBytes() {
      return file.lengthBytes();
    }

    @Override
    public int read(long position, ByteBuffer target) {
      int length = (int) Math.min(target.remaining(), Math.max(0, lengthBytes() - position));
      target.put(file.region(position, length));
      return length;
    }

    @Override
    public ByteBuffer map(long position, int lengthBytes, boolean writable) {
      return file.region(position, lengthBytes);
    }

    @Override
    public void write(long position, ByteBuffer source) {
      throw readOnly();
    }

    @Override
    public void setLength(long lengthBytes) {
      throw readOnly();
    }

    @Override
    public void force() {
      throw readOnly();
    }

    @Override
    public void close() {
      file.close();
    }
  }
}
