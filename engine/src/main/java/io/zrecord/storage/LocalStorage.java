package io.zrecord.storage;

import io.zrecord.internal.io.AppendFile;
import io.zrecord.internal.io.AtomicPublication;
import io.zrecord.internal.io.LocalFiles;
import io.zrecord.internal.io.MapBudget;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * The storage on a local file system, with mapped reads. It publishes by hard links and makes durable by {@code fsync}; where the
 * file system has no hard links, {@link #publish} is refused. Thread-safe.
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

  /** The storage rooted at a directory, which need not exist and may itself be a link. */
  public static Storage at(Path root) {
    LocalFiles files = new LocalFiles(root);
    return new LocalStorage(root, files, new AtomicPublication(files));
  }

  @Override
  public String location() {
    return root.toString();
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
      // A file may have gone since the directory was read.
      files.attributes(path).ifPresent(a -> found.add(storedFile(path, a)));
    }
    return found;
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
  public boolean rename(String from, String to) {
    return files.rename(files.resolve(from), files.resolve(to));
  }

  @Override
  public void forceDirectory(String directory) {
    files.forceDirectory(files.resolveDirectory(directory));
  }

  @Override
  public void delete(String name) {
    files.delete(files.resolve(name));
  }

  /** Holds no descriptor: each region is mapped through a channel of its own, so an interrupt cannot hurt other threads. */
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
