package io.zrecord.testing;

import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.util.List;

/** Files of which the contents are never forced, for controls of tests that take the power away. */
public final class UnforcedFiles implements MutableFiles {
  private final MutableFiles files;

  public UnforcedFiles(MutableFiles files) {
    this.files = files;
  }

  @Override
  public String location() {
    return files.location();
  }

  @Override
  public boolean exists(String name) {
    return files.exists(name);
  }

  @Override
  public List<String> list(String directory) {
    return files.list(directory);
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return files.read(name, maxBytes);
  }

  @Override
  public MutableFile open(String name, boolean writable) {
    return new Unforced(files.open(name, writable));
  }

  @Override
  public MutableFile create(String name) {
    return new Unforced(files.create(name));
  }

  @Override
  public void replace(String name, byte[] content) {
    files.replace(name, content);
  }

  @Override
  public void forceDirectory(String directory) {
    files.forceDirectory(directory);
  }

  @Override
  public void delete(String name) {
    files.delete(name);
  }

  private record Unforced(MutableFile file) implements MutableFile {
    @Override
    public String path() {
      return file.path();
    }

    @Override
    public long lengthBytes() {
      return file.lengthBytes();
    }

    @Override
    public void write(long position, ByteBuffer source) {
      file.write(position, source);
    }

    @Override
    public int read(long position, ByteBuffer target) {
      return file.read(position, target);
    }

    @Override
    public void setLength(long lengthBytes) {
      file.setLength(lengthBytes);
    }

    @Override
    public void force() {}

    @Override
    public ByteBuffer map(long position, int lengthBytes, boolean writable) {
      return file.map(position, lengthBytes, writable);
    }

    @Override
    public void close() {
      file.close();
    }
  }
}
