package io.zrecord.internal.io;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.FileErrors;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.storage.StorageNames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Files below one root directory. Nothing is reached through a symbolic link below the root, and
 * only regular files are opened: a dataset's contents are untrusted, its path is trusted.
 * Thread-safe.
 */
public final class LocalFiles {
  private static final int MAX_READ_STEP_BYTES = 1 << 20;
  private static final int MAX_DELETIONS = 100;

  private final Path root;
  /**
   * The outermost directory whose names this object changed: the root, or the directory that
   * existed when the root was made.
   */
  private volatile Path outermostChanged;

  public LocalFiles(Path root) {
    this.root = root;
    this.outermostChanged = root;
  }

  /**
   * Returns the path of a name.
   *
   * @throws IllegalArgumentException if a part of the name is empty, {@code .} or {@code ..}, or
   *     has a character that is not portable
   * @throws StorageException if a directory on the way is a symbolic link
   */
  public Path resolve(String name) {
    Path path = root;
    List<String> parts = StorageNames.parts(name, root.toString());
    for (int i = 0; i < parts.size(); i++) {
      path = path.resolve(parts.get(i));
      if (i + 1 < parts.size() && Files.isSymbolicLink(path)) {
        throw linkRefused(path);
      }
    }
    return path;
  }

  /** Returns the path of a directory; {@code ""} is the root. */
  public Path resolveDirectory(String name) {
    return name.isEmpty() ? root : resolve(name);
  }

  /**
   * Returns the attributes of a path; empty if nothing exists there. Of a link, returns those of
   * the link and not of its target.
   */
  public Optional<BasicFileAttributes> attributes(Path path) {
    try {
      return Optional.of(
          path.equals(root)
              ? Files.readAttributes(path, BasicFileAttributes.class)
              : Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      if (FileErrors.mentions(e, "Not a directory")) {
        return Optional.empty();
      }
      throw FileErrors.of("look at", path, e);
    }
  }

  /** Returns the length in bytes of a regular file. */
  public long lengthBytes(Path path) {
    BasicFileAttributes attributes = attributes(path)
        .orElseThrow(() -> new MissingFileException(
            path.toString(),
            "Cannot open " + path
                + ": there is no such file. Restore it from a copy, or check the path"));
    if (attributes.isSymbolicLink()) {
      throw linkRefused(path);
    }
    if (attributes.isDirectory()) {
      throw new MissingFileException(
          path.toString(),
          "Cannot open " + path + ": it is a directory, not a regular file. Restore the file from a"
              + " copy");
    }
    if (!attributes.isRegularFile()) {
      throw new StorageException(
          path.toString(),
          "Cannot open " + path
              + ": it is a special file, not a regular file. Restore the file from a copy");
    }
    return attributes.size();
  }

  /**
   * Returns the bytes that can still be written on the file system of the root. The root must
   * exist.
   */
  public long usableBytes() {
    try {
      return Files.getFileStore(root).getUsableSpace();
    } catch (IOException e) {
      throw FileErrors.of("look at the file system of", root, e);
    }
  }

  /** Lists the direct entries of a directory; empty if the directory does not exist. */
  public List<Path> list(Path directory) {
    List<Path> paths = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      stream.forEach(paths::add);
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (java.nio.file.DirectoryIteratorException e) {
      throw FileErrors.of("list", directory, Objects.requireNonNull(e.getCause()));
    } catch (IOException e) {
      throw FileErrors.of("list", directory, e);
    }
    return paths;
  }

  /** Returns the content of a file of at most {@code maxBytes} bytes. */
  public byte[] read(Path path, int maxBytes) {
    lengthBytes(path);
    try (FileChannel channel = openForReading(path)) {
      long length = channel.size();
      if (length > maxBytes) {
        throw new CorruptDataException(
            path.toString(),
            "Cannot read " + path + ": it has " + length + " bytes, at most " + maxBytes
                + " are allowed. Restore it from a copy");
      }
      byte[] content = new byte[(int) length];
      int done = 0;
      while (done < content.length) {
        int step = Math.min(content.length - done, MAX_READ_STEP_BYTES);
        int count = channel.read(ByteBuffer.wrap(content, done, step), done);
        if (count < 0) {
          throw new TruncatedFileException(
              path.toString(),
              "Cannot read " + path + ": it ends at byte " + done + " of " + length
                  + ". It was cut while it was read; restore it from a copy");
        }
        done += count;
      }
      return content;
    } catch (IOException e) {
      throw FileErrors.of("read", path, e);
    }
  }

  /**
   * Maps a part of a file. Each call opens a channel of its own: an interrupt during the call
   * closes the channel, and every other thread would lose a shared one.
   */
  public ByteBuffer map(Path path, long position, int lengthBytes) {
    lengthBytes(path);
    try (FileChannel channel = openForReading(path)) {
      long length = channel.size();
      if (position + lengthBytes > length) {
        throw new TruncatedFileException(
            path.toString(),
            "Cannot read bytes " + position + " to " + (position + lengthBytes) + " of " + path
                + ": it has only " + length + " bytes. Restore it from a copy");
      }
      return MapBudget.map(channel, path, position, lengthBytes);
    } catch (IOException e) {
      throw FileErrors.of("map", path, e);
    }
  }

  /**
   * Returns a copy of a part of a file. Read-only and little-endian, like a {@link #map} of the
   * part.
   */
  public ByteBuffer readRegion(Path path, long position, int lengthBytes) {
    lengthBytes(path);
    try (FileChannel channel = openForReading(path)) {
      ByteBuffer region = ByteBuffer.allocateDirect(lengthBytes);
      while (region.hasRemaining() && channel.read(region, position + region.position()) >= 0) {}
      if (region.hasRemaining()) {
        throw new TruncatedFileException(
            path.toString(),
            "Cannot read bytes " + position + " to " + (position + lengthBytes) + " of " + path
                + ": it has only " + channel.size() + " bytes. Restore it from a copy");
      }
      return region.flip().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException e) {
      throw FileErrors.of("read", path, e);
    }
  }

  /** Creates a file that must not exist, with its directories. */
  public FileChannel create(Path path) {
    return create(path, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
  }

  /** Creates a file that must not exist, with its directories, and opens it for reading as well. */
  FileChannel createReadable(Path path) {
    return create(
        path,
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.READ));
  }

  private FileChannel create(Path path, Set<StandardOpenOption> options) {
    try {
      createParents(path);
      return FileChannel.open(path, options);
    } catch (IOException e) {
      throw FileErrors.of("create", path, e);
    }
  }

  private void createParents(Path path) throws IOException {
    Path parent = path.getParent();
    if (parent == null || Files.isDirectory(parent)) {
      return;
    }
    Path standing = root.toAbsolutePath();
    if (!Files.isDirectory(standing)) {
      while (standing.getParent() != null && !Files.isDirectory(standing)) {
        standing = standing.getParent();
      }
      outermostChanged = standing;
    }
    Files.createDirectories(parent);
  }

  /**
   * Makes the names in a directory, and the directory's own name up to the root, survive power
   * loss. An interrupt is kept for later: forcing takes a moment, and half of it would leave the
   * outcome of a commit unknown.
   */
  public void forceDirectory(Path directory) {
    Path last = outermostChanged.toAbsolutePath();
    boolean interrupted = false;
    try {
      for (Path path = directory.toAbsolutePath(); path != null; path = path.getParent()) {
        interrupted |= force(path);
        if (path.equals(last)) {
          break;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static boolean force(Path directory) {
    boolean interrupted = false;
    while (true) {
      interrupted |= Thread.interrupted();
      try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
        channel.force(true);
        return interrupted;
      } catch (ClosedByInterruptException e) {
        interrupted = true;
      } catch (IOException e) {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
        throw FileErrors.of("force directory", directory, e);
      }
    }
  }

  /** Deletes a directory if it is empty. Returns whether there is none now. Never fails. */
  public boolean deleteIfEmpty(Path directory) {
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return !Files.exists(directory, LinkOption.NOFOLLOW_LINKS);
    }
    try {
      Files.deleteIfExists(directory);
      return true;
    } catch (IOException e) {
      // It is not empty, most likely.
      return false;
    }
  }

  /**
   * Deletes a file, or a directory with its content, also if another adds to the directory
   * meanwhile. Links are deleted, not followed. Hidden files may stay, with their directories, that
   * NFS and FUSE keep for programs that have a deleted file open.
   */
  public void delete(Path path) {
    IOException failure = TreeDeletion.of(path);
    for (int attempt = 1;
        failure instanceof DirectoryNotEmptyException && attempt < MAX_DELETIONS;
        attempt++) {
      failure = TreeDeletion.of(path);
    }
    if (failure != null) {
      throw FileErrors.of("delete", path, failure);
    }
  }

  /** Writes a small file over any file of that name. Forces nothing. */
  @SuppressForbidden
  public void replace(Path file, byte[] content) {
    Path temporary =
        file.resolveSibling("." + file.getFileName() + "." + UUID.randomUUID() + ".tmp");
    try {
      Files.write(temporary, content, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException | UnsupportedOperationException e) {
      try {
        Files.deleteIfExists(temporary);
      } catch (IOException leftover) {
        e.addSuppressed(leftover);
      }
      throw FileErrors.of("replace", file, e instanceof IOException io ? io : new IOException(e));
    }
  }

  /** Renames a file to a name that must not exist. The new name is durable when this returns. */
  public void moveAside(Path file, Path newName) {
    try {
      // A link fails where a rename would replace.
      Files.createLink(newName, file);
      Files.delete(file);
    } catch (IOException | UnsupportedOperationException e) {
      throw FileErrors.of(
          "move aside", file, e instanceof IOException io ? io : new IOException(e));
    }
    forceDirectory(Objects.requireNonNull(file.toAbsolutePath().getParent()));
  }

  private static FileChannel openForReading(Path path) throws IOException {
    return FileChannel.open(path, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
  }

  private static StorageException linkRefused(Path path) {
    return new StorageException(
        path.toString(),
        "Cannot open " + path
            + ": it is a symbolic link, and links inside a dataset are not followed. Put the file itself in its place");
  }

  /** Tells whether the failure of a hard link says that the file system has no hard links. */
  static boolean linksUnsupported(IOException e) {
    return e instanceof FileSystemException
        && (FileErrors.mentions(e, "Operation not permitted")
            || FileErrors.mentions(e, "not supported")
            || FileErrors.mentions(e, "Function not implemented"));
  }
}
