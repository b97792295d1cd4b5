package io.zrecord.internal.io;

import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.FileErrors;
import io.zrecord.errors.StorageException;
import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Files of a local file system. Thread-safe. */
public final class LocalMutableFiles implements MutableFiles {
  private static final String TEMPORARY = ".tmp";
  private static final Pattern TEMPORARY_NAME =
      Pattern.compile("\\..+\\.\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}\\.tmp");

  private final Path root;
  private final LocalFiles files;
  private volatile Runnable onReopening = () -> {};

  /** The directory of a writer's deletions. */
  private volatile @Nullable Path writersDeleted;

  public LocalMutableFiles(Path root) {
    this.root = root;
    this.files = new LocalFiles(root);
  }

  @Override
  public String location() {
    return root.toString();
  }

  /** Creates the root and its missing parents, durably. */
  public void createRoot() {
    Path absolute = root.toAbsolutePath().normalize();
    List<Path> missing = new ArrayList<>();
    for (Path path = absolute; path != null && !Files.exists(path); path = path.getParent()) {
      missing.add(path);
    }
    try {
      Files.createDirectories(absolute);
    } catch (IOException e) {
      throw FileErrors.of("create", absolute, e);
    }
    for (Path made : missing) {
      files.forceDirectory(Objects.requireNonNull(made.getParent()));
    }
  }

  @Override
  public long usableBytes() {
    return files.usableBytes();
  }

  @Override
  public boolean hasOtherNames(String name) {
    Path path = files.resolve(name);
    try {
      return Files.getAttribute(path, "unix:nlink") instanceof Integer links && links > 1;
    } catch (UnsupportedOperationException e) {
      return false;
    } catch (IOException e) {
      throw FileErrors.of("look at", path, e);
    }
  }

  @Override
  public Optional<String> identityOf(String name) {
    Path path = files.resolve(name);
    try {
      return FileNumbers.of(path);
    } catch (UnsupportedOperationException | IllegalArgumentException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw FileErrors.of("look at", path, e);
    }
  }

  /** Creates a directory that must not exist. Only one of several callers succeeds. */
  public void createDirectory(String name) {
    Path path = files.resolve(name);
    try {
      Files.createDirectories(Objects.requireNonNull(path.getParent()));
      Files.createDirectory(path);
    } catch (FileAlreadyExistsException e) {
      throw new DatasetExistsException(
          path.toString(),
          "Cannot create " + path
              + ": it exists. Another may just be making it, or was cut short; choose another directory, or remove it");
    } catch (IOException e) {
      throw FileErrors.of("create", path, e);
    }
  }

  @Override
  public boolean exists(String name) {
    return files.attributes(files.resolveDirectory(name)).isPresent();
  }

  @Override
  public BooleanSupplier presenceOf(String name) {
    Path path = files.resolve(name);
    return () -> Files.exists(path);
  }

  @Override
  public List<String> list(String directory) {
    return files.list(files.resolveDirectory(directory)).stream()
        .map(path -> String.valueOf(path.getFileName()))
        .toList();
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return files.read(files.resolve(name), maxBytes);
  }

  @Override
  public MutableFile open(String name, boolean writable) {
    Path path = files.resolve(name);
    files.lengthBytes(path);
    return LocalMutableFile.open(path, writable, this::checkReopened);
  }

  @Override
  public MutableFile create(String name) {
    Path path = files.resolve(name);
    return LocalMutableFile.created(path, files.createReadable(path), this::checkReopened);
  }

  @Override
  public void beginWriting(Runnable check) {
    onReopening = check;
    writersDeleted = createDeleted();
  }

  @Override
  public void endWriting() {
    onReopening = () -> {};
    Path deleted = writersDeleted;
    if (deleted != null) {
      writersDeleted = null;
      files.delete(deleted);
    }
  }

  private void checkReopened() {
    onReopening.run();
  }

  /**
   * Replaces a file. The temporary file has a name of its own, so that whoever deletes it stops
   * this replacement and no other.
   */
  @SuppressForbidden
  @Override
  public void replace(String name, Consumer<MutableFile> writing, Runnable lastCheck) {
    Path path = files.resolve(name);
    Path temporary =
        path.resolveSibling("." + path.getFileName() + "." + UUID.randomUUID() + TEMPORARY);
    boolean isMoved = false;
    try {
      try (LocalMutableFile file = LocalMutableFile.created(
          temporary, files.createReadable(temporary), this::checkReopened)) {
        writing.accept(file);
        file.force();
      }
      lastCheck.run();
      Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
      isMoved = true;
    } catch (NoSuchFileException e) {
      // The check says who dropped the temporary file.
      lastCheck.run();
      throw FileErrors.of("replace", path, e);
    } catch (IOException e) {
      throw FileErrors.of("replace", path, e);
    } finally {
      if (!isMoved) {
        files.delete(temporary);
      }
    }
    files.forceDirectory(Objects.requireNonNull(path.toAbsolutePath().getParent()));
  }

  @Override
  public void dropReplacements() {
    for (String name : list("")) {
      if (isTemporary(name)) {
        delete(name);
      }
    }
  }

  /**
   * Tells whether a name is one of those that objects of this class give to files that shall
   * replace others, and to directories of files that are deleted: {@code .NAME.UUID.tmp}.
   */
  public static boolean isTemporary(String name) {
    return TEMPORARY_NAME.matcher(name).matches();
  }

  /**
   * Gives a file a second name, below another root on the same file system.
   *
   * @throws io.zrecord.errors.StorageException if the file systems differ, or have no hard links
   */
  @SuppressForbidden
  public void link(String name, LocalMutableFiles target, String targetName) {
    Path source = files.resolve(name);
    files.lengthBytes(source);
    Path link = target.files.resolve(targetName);
    try {
      Files.createDirectories(Objects.requireNonNull(link.getParent()));
      Files.createLink(link, source);
    } catch (IOException e) {
      throw FileErrors.of("link " + link + " to", source, e);
    }
  }

  /** Returns files below a directory of this root. */
  public LocalMutableFiles below(String directory) {
    return new LocalMutableFiles(files.resolveDirectory(directory));
  }

  @Override
  public void forceDirectory(String directory) {
    files.forceDirectory(files.resolveDirectory(directory));
  }

  @Override
  public void delete(String name) {
    files.delete(files.resolve(name));
  }

  private Path createDeleted() {
    Path path = root.resolve(".deleted." + UUID.randomUUID() + TEMPORARY);
    try {
      return Files.createDirectory(path);
    } catch (IOException e) {
      throw FileErrors.of("create", path, e);
    }
  }

  /**
   * Moves the files to a directory of this object, and deletes them there. Whoever deletes the
   * directory stops the deletions of this object and no other: a file cannot be moved to what is
   * not there.
   */
  @Override
  public void delete(List<String> names, Runnable lastCheck) {
    if (names.isEmpty()) {
      return;
    }
    Path prepared = writersDeleted;
    Path deleted = prepared == null ? createDeleted() : prepared;
    try {
      // After the directory is there: whoever comes later finds the directory.
      lastCheck.run();
      for (String name : names) {
        if (!moveTo(deleted.resolve(UUID.randomUUID().toString()), files.resolve(name))) {
          // The check says who dropped the directory.
          lastCheck.run();
          throw new StorageException(
              root.toString(),
              "Cannot delete " + name + " in " + root + ": another program deleted " + deleted
                  + " meanwhile. The file stays; open the store again");
        }
      }
    } catch (IOException e) {
      throw FileErrors.of("delete files to", deleted, e);
    } finally {
      if (prepared == null) {
        files.delete(deleted);
      } else {
        files.list(deleted).forEach(files::delete);
      }
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
