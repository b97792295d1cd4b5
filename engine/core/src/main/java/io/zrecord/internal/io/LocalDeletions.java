package io.zrecord.internal.io;

import io.zrecord.errors.FileErrors;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.TemporaryNames;
import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes files below one root by moving them to a directory of this object. Whoever moves or
 * deletes the directory stops the deletions of this object and no other: a file cannot be moved to
 * what is not there.
 *
 * <p>A deletion counts as soon as the file is moved. What was moved is removed as far as that is
 * possible, and never fails a caller: programs may have the file open, and NFS and FUSE then keep a
 * hidden file in the directory. The next deletion tries again, and so does the next writer.
 * Thread-safe.
 */
final class LocalDeletions {
  private static final Logger LOG = LoggerFactory.getLogger(LocalDeletions.class);

  private final Path root;
  private final LocalFiles files;

  /** The directory of a writer. */
  private volatile @Nullable Path writers;

  LocalDeletions(Path root, LocalFiles files) {
    this.root = root;
    this.files = files;
  }

  /** Makes the directory now, so that a full disk does not keep files from being deleted. */
  void beginWriting() {
    writers = createDirectory();
  }

  void endWriting() {
    Path directory = writers;
    if (directory != null) {
      writers = null;
      remove(directory);
    }
  }

  private Path newName() {
    return root.resolve(TemporaryNames.of(TemporaryNames.DELETED, UUID.randomUUID()));
  }

  private Path createDirectory() {
    Path path = newName();
    try {
      return Files.createDirectory(path);
    } catch (IOException e) {
      throw FileErrors.of("create", path, e);
    }
  }

  /** Deletes files or directories one after the other, unless the last check throws. */
  void delete(List<String> names, Runnable lastCheck) {
    if (names.isEmpty()) {
      return;
    }
    Path prepared = writers;
    Path directory = prepared == null ? createDirectory() : prepared;
    try {
      // After the directory is there: whoever comes later finds the directory.
      lastCheck.run();
      for (String name : names) {
        if (!moveTo(directory.resolve(UUID.randomUUID().toString()), files.resolve(name))) {
          // The check says who dropped the directory.
          lastCheck.run();
          throw new StorageException(
              root.toString(),
              "Cannot delete " + name + " in " + root + ": another program deleted " + directory
                  + " meanwhile. The file stays; open the store again");
        }
      }
    } catch (IOException e) {
      throw FileErrors.of("delete files to", directory, e);
    } finally {
      if (prepared == null) {
        remove(directory);
      } else {
        removeContent(directory);
      }
    }
  }

  /**
   * Stops the deletions of another that has a directory. The directory gets another name first,
   * because it may be impossible to remove.
   */
  @SuppressForbidden
  void drop(Path directory) {
    Path moved = newName();
    try {
      Files.move(directory, moved, StandardCopyOption.ATOMIC_MOVE);
      remove(moved);
    } catch (NoSuchFileException e) {
      // Another has dropped the directory as well.
    } catch (IOException e) {
      // A directory of a lower layer of an overlay stays where it is, but can be deleted.
      files.delete(directory);
      if (files.attributes(directory).isPresent()) {
        throw FileErrors.of("delete", directory, e);
      }
    }
  }

  private static void remove(Path path) {
    IOException failure = TreeDeletion.of(path);
    if (failure != null) {
      LOG.debug("{} was deleted, and cannot be removed yet", path, failure);
    }
  }

  private void removeContent(Path directory) {
    try {
      files.list(directory).forEach(LocalDeletions::remove);
    } catch (ZRecordException e) {
      LOG.debug("The files in {} were deleted, and cannot be removed yet", directory, e);
    }
  }

  /** Moves a file, if it is there. Returns whether there is a directory to move files to. */
  @SuppressForbidden
  private static boolean moveTo(Path target, Path file) throws IOException {
    try {
      Files.move(file, target, StandardCopyOption.ATOMIC_MOVE);
      return true;
    } catch (NoSuchFileException e) {
      return Files.isDirectory(Objects.requireNonNull(target.getParent()));
    } catch (AtomicMoveNotSupportedException e) {
      // A directory of a lower layer of an overlay stays where it is; its files can be moved.
      if (!Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
        throw e;
      }
      return moveFilesTo(target, file);
    }
  }

  @SuppressForbidden
  private static boolean moveFilesTo(Path target, Path directory) throws IOException {
    try {
      Files.createDirectory(target);
    } catch (NoSuchFileException e) {
      return false;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        if (!moveTo(target.resolve(Objects.requireNonNull(file.getFileName())), file)) {
          return false;
        }
      }
    }
    Files.delete(directory);
    return true;
  }
}
