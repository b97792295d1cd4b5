package io.zrecord.table;

import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.UUID;

/**
 * What must not be done: publishes by renaming over the name. Shows that the races of the tests are
 * races.
 */
final class OverwritingStorage implements Storage {
  private final Storage storage;
  private final Path root;

  OverwritingStorage(Storage storage, Path root) {
    this.storage = storage;
    this.root = root;
  }

  @Override
  public boolean publish(String name, byte[] content) {
    try {
      Path path = root.resolve(name);
      Files.createDirectories(path.getParent());
      Path temporary = path.resolveSibling(UUID.randomUUID() + ".tmp");
      Files.write(temporary, content);
      Files.move(
          temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
    return storage.open(name);
  }

  @Override
  public WritableFile create(String name) {
    return storage.create(name);
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
}
