package io.zrecord.storage.cache;

import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import io.zrecord.storage.local.LocalStorage;
import java.util.List;
import java.util.Optional;

/**
 * A storage whose opened files are read through a {@link BlockCache}. These are the files of which
 * a name never gets another content: chunks, tables and patches. Everything else goes to the
 * storage: manifests, hints, lists, and all writes. Thread-safe.
 */
public final class CachedStorage implements Storage {
  private final Storage storage;
  private final BlockCache cache;

  private record Identity(BlockCache cache, Object storage) {}

  private CachedStorage(Storage storage, BlockCache cache) {
    this.storage = storage;
    this.cache = cache;
  }

  /**
   * Returns a storage that reads through a cache, and through no other. A local storage is returned
   * as it is. So is a file of another storage that maps its files.
   */
  public static Storage of(Storage storage, BlockCache cache) {
    return storage instanceof LocalStorage ? storage : new CachedStorage(storage.uncached(), cache);
  }

  @Override
  public Storage uncached() {
    return storage;
  }

  @Override
  public void forget(String name, long lengthBytes) {
    cache.forget(location(), name, lengthBytes);
  }

  private ReadableFile cached(String name, ReadableFile file) {
    return file.isMapped() ? file : new CachedFile(cache, location(), name, file);
  }

  @Override
  public ReadableFile open(String name) {
    return cached(name, storage.open(name));
  }

  @Override
  public ReadableFile open(String name, long lengthBytes) {
    return cached(name, storage.open(name, lengthBytes));
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
  public String location() {
    return storage.location();
  }

  @Override
  public Object identity() {
    return new Identity(cache, storage.identity());
  }

  @Override
  public String pathOf(String name) {
    return storage.pathOf(name);
  }

  @Override
  public long usableBytes() {
    return storage.usableBytes();
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
  public Optional<StoredFile> find(String name) {
    return storage.find(name);
  }

  @Override
  public List<StoredFile> list(String directory) {
    return storage.list(directory);
  }

  @Override
  public List<StoredFile> listTree(String directory) {
    return storage.listTree(directory);
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return storage.read(name, maxBytes);
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
  public void deleteAll(List<String> names) {
    storage.deleteAll(names);
  }

  @Override
  public boolean deleteIfEmpty(String directory) {
    return storage.deleteIfEmpty(directory);
  }

  @Override
  public String toString() {
    return storage + ", with a " + cache;
  }
}
