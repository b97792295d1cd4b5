package io.zrecord.table;

import io.zrecord.storage.Storage;
import io.zrecord.testing.ForwardingStorage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;

/**
 * What must not be done: publishes by renaming over the name. Shows that the races of the tests are
 * races.
 */
class OverwritingStorage extends ForwardingStorage {
  private final Path root;

  OverwritingStorage(Storage storage, Path root) {
    super(storage);
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
}
