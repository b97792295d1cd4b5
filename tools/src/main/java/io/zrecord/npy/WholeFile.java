package io.zrecord.npy;

import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.FileErrors;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import io.zrecord.storage.local.LocalStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.UUID;

/**
 * A file of any length that appears under its name, which must not exist, once it is whole. Until
 * {@link #publish} the file has a temporary name in the same directory. {@link #close} removes an
 * unpublished file. Belongs to one thread.
 */
public final class WholeFile implements AutoCloseable {
  private final Path path;
  private final Storage directory;
  private final String temporary;
  private final WritableFile file;

  /**
   * Begins a file.
   *
   * @throws DatasetExistsException if the name is taken
   */
  public WholeFile(Path path) {
    this.path = path.toAbsolutePath();
    if (Files.exists(this.path)) {
      throw exists(path);
    }
    directory = LocalStorage.at(Objects.requireNonNull(this.path.getParent()));
    temporary = "." + path.getFileName() + "." + UUID.randomUUID() + ".tmp";
    file = directory.create(temporary);
  }

  /** Appends the remaining bytes of the buffer. */
  public void write(ByteBuffer buffer) {
    file.write(buffer);
  }

  /** Makes the file durable and gives it its name. */
  public void publish() {
    file.force();
    try {
      Files.createLink(path, path.resolveSibling(temporary));
    } catch (FileAlreadyExistsException e) {
      throw exists(path);
    } catch (IOException e) {
      throw FileErrors.of("create", path, e);
    }
    directory.forceDirectory("");
  }

  private static DatasetExistsException exists(Path path) {
    return new DatasetExistsException(
        path.toString(), "Cannot write " + path + ": it exists; remove it or choose another name");
  }

  @Override
  public void close() {
    try {
      file.close();
    } finally {
      directory.delete(temporary);
    }
  }
}
