package io.zrecord.testing;

import io.zrecord.internal.io.MutableFile;
import java.nio.ByteBuffer;

/** Hands every call on to another file; tests override the calls that differ. */
public abstract class ForwardingFile implements MutableFile {
  protected final MutableFile file;

  protected ForwardingFile(MutableFile file) {
    this.file = file;
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
  public int read(long position, ByteBuffer target) {
    return file.read(position, target);
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
