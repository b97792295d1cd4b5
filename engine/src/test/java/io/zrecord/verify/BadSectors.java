package io.zrecord.verify;

import io.zrecord.errors.FileErrors;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** Real files, of which reads of some bytes fail as the operating system reports it. */
final class BadSectors implements MutableFiles {
  private final LocalMutableFiles files;
  private final String name;
  private final long from;
  private final long to;
  private final IOException error;

  /** Reads that touch the bytes {@code [from, to)} of a file fail. */
  BadSectors(Path root, String name, long from, long to, IOException error) {
    this.files = new LocalMutableFiles(root);
    this.name = name;
    this.from = from;
    this.to = to;
    this.error = error;
  }

  /** Makes a medium that does not give these bytes any more. */
  static BadSectors of(Path root, String name, long from, long to) {
    return new BadSectors(root, name, from, to, new IOException("Input/output error"));
  }

  private final class File implements MutableFile {
    private final MutableFile file;

    File(MutableFile file) {
      this.file = file;
    }

    @Override
    public int read(long position, ByteBuffer target) {
      if (position < to && position + target.remaining() > from) {
        throw FileErrors.of("read", Path.of(path()), error);
      }
      return file.read(position, target);
    }

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
    public void setLength(long lengthBytes) {
      file.setLength(lengthBytes);
    }

    @Override
    public void force() {
      file.force();
    }

    @Override
    public ByteBuffer map(long position, int lengthBytes, boolean writable) {
      return file.map(position, lengthBytes, writable);
    }

    @Override
    public void close() {
      file.close();
    }
  }

  @Override
  public MutableFile open(String opened, boolean writable) {
    MutableFile file = files.open(opened, writable);
    return opened.equals(name) ? new File(file) : file;
  }

  @Override
  public String location() {
    return files.location();
  }

  @Override
  public boolean exists(String other) {
    return files.exists(other);
  }

  @Override
  public List<String> list(String directory) {
    return files.list(directory);
  }

  @Override
  public byte[] read(String other, int maxBytes) {
    return files.read(other, maxBytes);
  }

  @Override
  public MutableFile create(String other) {
    return files.create(other);
  }

  @Override
  public void replace(String other, byte[] content) {
    files.replace(other, content);
  }

  @Override
  public void forceDirectory(String directory) {
    files.forceDirectory(directory);
  }

  @Override
  public void delete(String other) {
    files.delete(other);
  }
}
