package io.zrecord.testing;

import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.util.List;
import java.util.function.Consumer;

/** Hands every call on to other files; tests override the calls that differ. */
public abstract class ForwardingFiles implements MutableFiles {
  protected final MutableFiles files;

  protected ForwardingFiles(MutableFiles files) {
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
    return files.open(name, writable);
  }

  @Override
  public MutableFile create(String name) {
    return files.create(name);
  }

  @Override
  public void replace(String name, Consumer<MutableFile> writing, Runnable lastCheck) {
    files.replace(name, writing, lastCheck);
  }

  @Override
  public void dropReplacements() {
    files.dropReplacements();
  }

  @Override
  public void forceDirectory(String directory) {
    files.forceDirectory(directory);
  }

  @Override
  public void delete(String name) {
    files.delete(name);
  }

  @Override
  public void delete(List<String> names, Runnable lastCheck) {
    files.delete(names, lastCheck);
  }

  @Override
  public void beginWriting(Runnable check) {
    files.beginWriting(check);
  }

  @Override
  public void endWriting() {
    files.endWriting();
  }

  @Override
  public String pathOf(String name) {
    return files.pathOf(name);
  }

  @Override
  public long usableBytes() {
    return files.usableBytes();
  }

  @Override
  public boolean hasOtherNames(String name) {
    return files.hasOtherNames(name);
  }
}
