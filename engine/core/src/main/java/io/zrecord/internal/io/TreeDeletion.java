package io.zrecord.internal.io;

import io.zrecord.errors.FileErrors;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Deletes a file, or a directory with its content, as far as that is possible. Links are deleted,
 * not followed.
 *
 * <p>When a file is deleted that a program has open, NFS and FUSE keep the file under a hidden name
 * in the same directory until the program closes the file. Hidden files and their directories stay
 * without being a failure: what was to be deleted is deleted. Used by one thread, once.
 */
final class TreeDeletion extends SimpleFileVisitor<Path> {
  private final Set<Path> kept = new HashSet<>();
  private @Nullable IOException failure;

  private TreeDeletion() {}

  /** Deletes what is there, and returns the first failure with the others suppressed. */
  static @Nullable IOException of(Path path) {
    TreeDeletion deletion = new TreeDeletion();
    try {
      Files.walkFileTree(path, deletion);
    } catch (IOException e) {
      deletion.add(e);
    }
    return deletion.failure;
  }

  @Override
  public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      if (isHidden(file)) {
        kept.add(file);
      } else {
        add(e);
      }
    }
    return FileVisitResult.CONTINUE;
  }

  @Override
  public FileVisitResult visitFileFailed(Path file, IOException e) {
    if (!(e instanceof NoSuchFileException) && !FileErrors.mentions(e, "Not a directory")) {
      add(e);
    }
    return FileVisitResult.CONTINUE;
  }

  @Override
  public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) {
    if (e != null) {
      add(e);
      return FileVisitResult.CONTINUE;
    }
    try {
      Files.deleteIfExists(directory);
    } catch (DirectoryNotEmptyException notEmpty) {
      if (hasOnlyKept(directory)) {
        kept.add(directory);
      } else {
        add(notEmpty);
      }
    } catch (IOException other) {
      add(other);
    }
    return FileVisitResult.CONTINUE;
  }

  private boolean hasOnlyKept(Path directory) {
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      for (Path path : stream) {
        if (!kept.contains(path) && !isHidden(path)) {
          return false;
        }
      }
      return true;
    } catch (IOException | java.nio.file.DirectoryIteratorException e) {
      return false;
    }
  }

  /** Tells whether a name is like those of files that were deleted and are open. */
  private static boolean isHidden(Path path) {
    String name = String.valueOf(path.getFileName());
    return name.startsWith(".nfs") || name.startsWith(".fuse_hidden");
  }

  private void add(IOException e) {
    if (failure == null) {
      failure = e;
    } else {
      failure.addSuppressed(e);
    }
  }
}
