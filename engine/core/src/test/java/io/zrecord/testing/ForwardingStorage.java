package io.zrecord.testing;

import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import java.util.List;
import java.util.Optional;

/** Hands every call on to another storage; tests override the calls that differ. */
public abstract class ForwardingStorage implements Storage {
  protected final Storage storage;

  protected ForwardingStorage(Storage storage) {
    this.storage = storage;
  }

  @Override
  public String location() {
    return storage.location();
  }

  @Override
  public boolean isRemote() {
    return storage.isRemote();
  }

  @Override
  public int requestsAtOnce() {
    return storage.requestsAtOnce();
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
  public Optional<StoredFile> find(String name) {
    return storage.find(name);
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return storage.read(name, maxBytes);
  }

  @Override
  public ReadableFile open(String name) {
    return storage.open(name);
  }

  @Override
  public WritableFile create(String name) {
    return storage.create(name);
  }

  @Override
  public void replace(String name, byte[] content) {
    storage.replace(name, content);
  }

  @Override
  public void forceDirectory(String directory) {
    storage.forceDirectory(directory);
  }

  @Override
  public void delete(String name) {
    storage.delete(name);
  }

  @Override
  public boolean publish(String name, byte[] content) {
    return storage.publish(name, content);
  }

  @Override
  public String pathOf(String name) {
    return storage.pathOf(name);
  }

  @Override
  public long usableBytes() {
    return storage.usableBytes();
  }
}
