package io.zrecord.internal.io;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.FileErrors;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.UUID;

/**
 * Publishes a small file under a name that must not exist, whole and at most once. A temporary file
 * in the same directory is written and forced. Then a hard link gives it the name, which fails if
 * the name exists. Then the directory is forced. Renaming would replace an existing file (300 of
 * 300 races had more than one winner; with links none). Thread-safe.
 */
public final class AtomicPublication {
  /** Makes {@code name} another name of {@code existing}. Fails if {@code name} exists. */
  @FunctionalInterface
  public interface Linker {
    void link(Path name, Path existing) throws IOException;
  }

  private final LocalFiles files;
  private final Linker linker;
  private final Runnable lastCheck;

  public AtomicPublication(LocalFiles files) {
    this(files, Files::createLink);
  }

  /** Creates a publication with another way to link, so that tests can make links fail. */
  public AtomicPublication(LocalFiles files, Linker linker) {
    this(files, linker, () -> {});
  }

  /**
   * Creates a publication that another can stop.
   *
   * @param lastCheck runs when everything but the link is done, and throws if another has come. If
   *     the other deletes the temporary file after the check, the link fails, the check runs again,
   *     and what it throws says that nothing was published
   */
  public static AtomicPublication fenced(LocalFiles files, Runnable lastCheck) {
    return new AtomicPublication(files, Files::createLink, lastCheck);
  }

  private AtomicPublication(LocalFiles files, Linker linker, Runnable lastCheck) {
    this.files = files;
    this.linker = linker;
    this.lastCheck = lastCheck;
  }

  /** Publishes the content. Returns {@code false} if the name is taken. */
  public boolean publish(Path path, byte[] content) {
    Path directory = Objects.requireNonNull(path.toAbsolutePath().getParent());
    Path temporary = directory.resolve("." + path.getFileName() + "." + UUID.randomUUID() + ".tmp");
    try {
      try (AppendFile file = new AppendFile(temporary, files.create(temporary))) {
        file.write(ByteBuffer.wrap(content));
        file.force();
      }
      lastCheck.run();
      if (!link(path, temporary)) {
        return false;
      }
      forceDirectory(path, directory);
      return true;
    } finally {
      deleteQuietly(temporary);
    }
  }

  private boolean link(Path path, Path temporary) {
    try {
      linker.link(path, temporary);
      return true;
    } catch (NoSuchFileException e) {
      if (!Files.exists(path)) {
        // The check says who deleted the temporary file.
        lastCheck.run();
      }
      return isSameFile(path, temporary, e);
    } catch (FileAlreadyExistsException e) {
      // A repeated request of a network file system may find its own earlier success.
      return isSameFile(path, temporary, e);
    } catch (UnsupportedOperationException e) {
      throw unsupported(path, e);
    } catch (IOException e) {
      if (LocalFiles.linksUnsupported(e)) {
        throw unsupported(path, e);
      }
      return isSameFile(path, temporary, e);
    }
  }

  /** Reads back after a failure. The name is the link, a file of another writer, or missing. */
  private static boolean isSameFile(Path path, Path temporary, IOException failure) {
    try {
      return Files.isSameFile(path, temporary);
    } catch (NoSuchFileException e) {
      if (Files.exists(temporary)) {
        throw FileErrors.of("publish", path, failure);
      }
      failure.addSuppressed(e);
      throw unknown(path, failure);
    } catch (IOException e) {
      failure.addSuppressed(e);
      throw unknown(path, failure);
    }
  }

  private void forceDirectory(Path path, Path directory) {
    try {
      files.forceDirectory(directory);
    } catch (ZRecordException e) {
      throw unknown(path, e);
    }
  }

  private static CommitOutcomeUnknownException unknown(Path path, Exception cause) {
    return new CommitOutcomeUnknownException(
        path.toString(),
        "Cannot tell whether " + path + " was published: " + cause.getMessage()
            + ". Delete nothing; look whether the file exists when the file system answers again",
        cause);
  }

  private static StorageException unsupported(Path path, Exception cause) {
    return new StorageException(
        path.toString(),
        "Cannot publish " + path
            + " atomically: this file system has no hard links (" + cause.getMessage()
            + "). Put the dataset on a file system that has them, such as ext4, XFS or APFS",
        cause);
  }

  private static void deleteQuietly(Path temporary) {
    try {
      Files.deleteIfExists(temporary);
    } catch (IOException e) {
      // Every reader ignores the name of a leftover.
    }
  }
}
