package io.zrecord.internal.io;

import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.FileErrors;
import io.zrecord.internal.format.TemporaryNames;
import java.io.IOException;
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

/** Files of a local file system. Thread-safe. */
public final class LocalMutableFiles implements MutableFiles {
  private final Path root;
  private final LocalFiles files;
  private final LocalDeletions deletions;
  private volatile Runnable onReopening = () -> {};

  public LocalMutableFiles(Path root) {
    this.root = root;
    this.files = new LocalFiles(root);
    this.deletions = new LocalDeletions(root, files);
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
    deletions.beginWriting();
  }

  @Override
  public void endWriting() {
    onReopening = () -> {};
    deletions.endWriting();
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
    Path temporary = path.resolveSibling(
        TemporaryNames.of(String.valueOf(path.getFileName()), UUID.randomUUID()));
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
      if (TemporaryNames.isTemporary(name)) {
        Path temporary = files.resolve(name);
        if (Files.isDirectory(temporary, LinkOption.NOFOLLOW_LINKS)) {
          deletions.drop(temporary);
        } else {
          files.delete(temporary);
        }
      }
    }
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

  @Override
  public void delete(List<String> names, Runnable lastCheck) {
    deletions.delete(names, lastCheck);
  }
}
