package io.zrecord.storage.cache;

import io.zrecord.internal.io.CacheFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.storage.StoredFile;
import java.util.List;
import java.util.Optional;

/** Hands every call on to other files; tests override the calls that differ. */
abstract class ForwardingCacheFiles implements CacheFiles {
  protected final CacheFiles files;

  ForwardingCacheFiles(CacheFiles files) {
    this.files = files;
  }

  @Override
  public String location() {
    return files.location();
  }

  @Override
  public List<String> names() {
    return files.names();
  }

  @Override
  public Optional<StoredFile> look(String name) {
    return files.look(name);
  }

  @Override
  public MutableFile open(String name) {
    return files.open(name);
  }

  @Override
  public void write(String name, byte[] content) {
    files.write(name, content);
  }

  @Override
  public void delete(String name) {
    files.delete(name);
  }

  @Override
  public void setModified(String name, long millis) {
    files.setModified(name, millis);
  }

  @Override
  public Space space() {
    return files.space();
  }
}
