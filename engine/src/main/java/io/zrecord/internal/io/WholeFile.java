package io.zrecord.internal.io;

import io.zrecord.errors.DatasetExistsException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.UUID;

/**
 * A file of any length that appears under its name, which must not exist, when it is whole. Until {@link #publish} it stands under a
 * temporary name beside it, and {@link #close} removes what was not published. Belongs to one thread.
 */
public final class WholeFile implements AutoCloseable {
  private final Path path;
  private final Path temporary;
  private final LocalFiles files;
  private final AppendFile file;

  /**
   * Begins one.
   *
   * @throws DatasetExistsException if there is something under the name
   */
  public WholeFile(Path path) {
    this.path = path.toAbsolutePath();
    if (Files.exists(this.path)) {
      throw exists(path);
    }
    Path directory = Objects.requireNonNull(this.path.getParent());
    temporary = directory.resolve("." + path.getFileName() + "." + UUID.randomUUID() + ".tmp");
    files = new LocalFiles(directory);
    file = new AppendFile(temporary, files.create(temporary));
  }

  /** Appends what remains of the buffer. */
  public void write(ByteBuffer buffer) {
    file.write(buffer);
  }

  /** Makes it durable and gives it its name. */
  public void publish() {
    file.force();
    try {
      Files.createLink(path, temporary);
    } catch (FileAlreadyExistsException e) {
      throw exists(path);
    } catch (IOException e) {
      throw FileErrors.of("create", path, e);
    }
    files.forceDirectory(Objects.requireNonNull(path.getParent()));
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
      files.delete(temporary);
    }
  }
}
