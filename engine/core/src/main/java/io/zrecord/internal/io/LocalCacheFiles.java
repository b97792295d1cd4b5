package io.zrecord.internal.io;

import io.zrecord.errors.FileErrors;
import io.zrecord.errors.MissingFileException;
import io.zrecord.storage.StoredFile;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;

/** A directory of a local file system. Thread-safe. */
public final class LocalCacheFiles implements CacheFiles {
  private final Path directory;
  private final LocalFiles files;

  /** Creates an object for a directory, which need not exist. */
  public LocalCacheFiles(Path directory) {
    this.directory = directory;
    this.files = new LocalFiles(directory);
  }

  @Override
  public String location() {
    return directory.toString();
  }

  @Override
  public List<String> names() {
    return files.list(directory).stream()
        .map(path -> String.valueOf(path.getFileName()))
        .toList();
  }

  @Override
  public Optional<StoredFile> look(String name) {
    return files
        .attributes(files.resolve(name))
        .filter(BasicFileAttributes::isRegularFile)
        .map(a -> new StoredFile(name, false, a.size(), a.lastModifiedTime().toMillis()));
  }

  @Override
  public MutableFile open(String name) {
    return LocalMutableFile.open(files.resolve(name), false, () -> {});
  }

  @Override
  public void write(String name, byte[] content) {
    Path path = files.resolve(name);
    try {
      files.replace(path, content);
    } catch (MissingFileException e) {
      createDirectory();
      files.replace(path, content);
    }
  }

  private void createDirectory() {
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw FileErrors.of("create", directory, e);
    }
  }

  @Override
  public void delete(String name) {
    Path path = files.resolve(name);
    try {
      if (look(name).isPresent()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw FileErrors.of("delete", path, e);
    }
  }

  @Override
  public void setModified(String name, long millis) {
    Path path = files.resolve(name);
    try {
      Files.setLastModifiedTime(path, FileTime.fromMillis(millis));
    } catch (IOException e) {
      throw FileErrors.of("change the time of", path, e);
    }
  }

  @Override
  public Space space() {
    File existing = directory.toAbsolutePath().toFile();
    while (!existing.exists() && existing.getParentFile() != null) {
      existing = existing.getParentFile();
    }
    return new Space(existing.getUsableSpace(), existing.getTotalSpace());
  }
}
