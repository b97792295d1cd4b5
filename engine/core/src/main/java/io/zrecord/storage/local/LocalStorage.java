package io.zrecord.storage.local;

import io.zrecord.Spi;
import io.zrecord.internal.io.AppendFile;
import io.zrecord.internal.io.AtomicPublication;
import io.zrecord.internal.io.LocalFiles;
import io.zrecord.internal.io.MapBudget;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A storage on a local file system, with mapped reads. Files are published by hard links and made
 * durable by {@code fsync}. Where the file system has no hard links, {@link #publish} is refused.
 * Thread-safe.
 */
public final class LocalStorage implements Storage {
  private static final int SMALL_REGION_BYTES = 1 << 16;

  private final Path root;
  private final LocalFiles files;
  private final AtomicPublication publication;

  LocalStorage(Path root, LocalFiles files, AtomicPublication publication) {
    this.root = root;
    this.files = files;
    this.publication = publication;
  }

  /**
   * Returns a storage rooted at a directory. The directory need not exist and may itself be a link.
   */
  public static Storage at(Path root) {
    LocalFiles files = new LocalFiles(root);
    return new LocalStorage(root, files, new AtomicPublication(files));
  }

  /**
   * Returns a storage rooted at a directory that somebody else may take over meanwhile.
   *
   * @param lastCheck runs in {@link #publish}, when everything but the last step is done, and
   *     throws if another has come. Who comes later deletes the temporary file of the publication,
   *     and the last step fails: what the check throws then says that nothing was published
   */
  @Spi
  public static Storage fenced(Path root, Runnable lastCheck) {
    LocalFiles files = new LocalFiles(root);
    return new LocalStorage(root, files, AtomicPublication.fenced(files, lastCheck));
  }

  @Override
  public String location() {
    return root.toString();
  }

  @Override
  public Object identity() {
    return root;
  }

  @Override
  public long usableBytes() {
    return files.usableBytes();
  }

  @Override
  public boolean exists(String name) {
    return files.attributes(files.resolveDirectory(name)).isPresent();
  }

  @Override
  public long lengthBytes(String name) {
    return files.lengthBytes(files.resolve(name));
  }

  @Override
  public List<StoredFile> list(String directory) {
    List<StoredFile> found = new ArrayList<>();
    for (Path path : files.list(files.resolveDirectory(directory))) {
      // A file may vanish after the directory was read.
      files.attributes(path).ifPresent(a -> found.add(storedFile(path, a)));
    }
    return found;
  }

  @Override
  public Optional<StoredFile> find(String name) {
    Path path = files.resolve(name);
    return files.attributes(path).filter(a -> !a.isDirectory()).map(a -> storedFile(path, a));
  }

  private static StoredFile storedFile(Path path, BasicFileAttributes attributes) {
    boolean directory = attributes.isDirectory();
    return new StoredFile(
        String.valueOf(path.getFileName()),
        directory,
        directory ? 0 : attributes.size(),
        attributes.lastModifiedTime().toMillis());
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return files.read(files.resolve(name), maxBytes);
  }

  @Override
  public ReadableFile open(String name) {
    Path path = files.resolve(name);
    return new MappedReadableFile(files, path, files.lengthBytes(path));
  }

  @Override
  public WritableFile create(String name) {
    Path path = files.resolve(name);
    return new AppendedWritableFile(path, new AppendFile(path, files.create(path)));
  }

  @Override
  public boolean publish(String name, byte[] content) {
    return publication.publish(files.resolve(name), content);
  }

  @Override
  public void replace(String name, byte[] content) {
    files.replace(files.resolve(name), content);
  }

  @Override
  public void forceDirectory(String directory) {
    files.forceDirectory(files.resolveDirectory(directory));
  }

  @Override
  public boolean deleteIfEmpty(String directory) {
    return files.deleteIfEmpty(files.resolveDirectory(directory));
  }

  @Override
  public void delete(String name) {
    files.delete(files.resolve(name));
  }

  /**
   * A file without an open descriptor. Each region is mapped through a channel of its own, so an
   * interrupt cannot hurt other threads.
   */
  private record MappedReadableFile(LocalFiles files, Path file, long lengthBytes)
      implements ReadableFile {
    @Override
    public String path() {
      return file.toString();
    }

    @Override
    public ByteBuffer region(long position, int regionBytes) {
      if (position < 0
          || regionBytes < 0
          || regionBytes > 1 << 30
          || position > lengthBytes - regionBytes) {
        throw new IllegalArgumentException("Region of " + regionBytes + " bytes at " + position
            + " is not within " + file + " of " + lengthBytes + " bytes");
      }
      // Thousands of small files must not use up the mappings that the kernel grants.
      return regionBytes <= SMALL_REGION_BYTES && MapBudget.live() >= MapBudget.budget()
          ? files.readRegion(file, position, regionBytes)
          : files.map(file, position, regionBytes);
    }

    @Override
    public void close() {}
  }

  private record AppendedWritableFile(Path file, AppendFile appendFile) implements WritableFile {
    @Override
    public String path() {
      return file.toString();
    }

    @Override
    public long positionBytes() {
      return appendFile.positionBytes();
    }

    @Override
    public void write(ByteBuffer... buffers) {
      appendFile.write(buffers);
    }

    @Override
    public void force() {
      appendFile.force();
    }

    @Override
    public void close() {
      appendFile.close();
    }
  }
}
