package io.zrecord.internal.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;

/** Files of a local file system. Thread-safe. */
public final class LocalMutableFiles implements MutableFiles {
  private final Path root;
  private final LocalFiles files;

  public LocalMutableFiles(Path root) {
    this.root = root;
    this.files = new LocalFiles(root);
  }

  @Override
  public String location() {
    return root.toString();
  }

  @Override
  public boolean exists(String name) {
    return files.attributes(files.resolveDirectory(name)).isPresent();
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
    return new LocalMutableFile(path, writable);
  }

  @Override
  public MutableFile create(String name) {
    Path path = files.resolve(name);
    try {
      files.create(path).close();
    } catch (IOException e) {
      throw FileErrors.of("create", path, e);
    }
    return new LocalMutableFile(path, true);
  }

  /** One writer holds the store, so there is nobody whose file could be replaced by mistake. */
  @SuppressForbidden
  @Override
  public void replace(String name, byte[] content) {
    Path path = files.resolve(name);
    Path temporary = path.resolveSibling("." + path.getFileName() + ".tmp");
    files.delete(temporary);
    try (AppendFile file = new AppendFile(temporary, files.create(temporary))) {
      file.write(ByteBuffer.wrap(content));
      file.force();
    }
    try {
      Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw FileErrors.of("replace", path, e);
    }
    files.forceDirectory(Objects.requireNonNull(path.toAbsolutePath().getParent()));
  }

  /**
   * Gives a file a second name, below another root on the same file system.
   *
   * @throws io.zrecord.errors.StorageException if the file systems are not the same, or have no such links
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

  /** The same kind of files below a directory of this root. */
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
}
