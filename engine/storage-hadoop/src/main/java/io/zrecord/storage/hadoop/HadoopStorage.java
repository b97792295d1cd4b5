package io.zrecord.storage.hadoop;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageNames;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import io.zrecord.storage.cache.CacheSettings;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;
import org.jspecify.annotations.Nullable;

/**
 * A storage on a file system of Hadoop. Regions are read into memory. Files are published as the
 * file system can do that at most once: by a rename on HDFS and Azure, by a condition of the
 * request on S3, by the generation on Google. A file system that can do none of these is read only.
 * Thread-safe.
 */
public final class HadoopStorage implements Storage {
  /** What the names of settings begin with that are not Hadoop's. */
  private static final String SETTING_PREFIX = "zrecord.";

  /** An authority that ends within a password, at a slash. */
  private static final Pattern SPLIT_PASSWORD = Pattern.compile(".*:(?!\\d*$).*");

  /** An option of S3A, which other file systems ignore. */
  private static final String S3A_WITHOUT_PROBES = "fs.s3a.create.performance";

  /** Most listings of a tree in which directories are deleted meanwhile. */
  private static final int LIST_ATTEMPTS = 5;

  private final Path root;
  private final FileSystem files;
  private final Configuration settings;
  private volatile @Nullable Publication publication;

  private record Identity(Path root, FileSystem files) {}

  private HadoopStorage(Path root, FileSystem files, Configuration settings) {
    this.root = root;
    this.files = files;
    this.settings = settings;
  }

  /**
   * Returns a storage rooted at a directory, which need not exist.
   *
   * @param location a URI such as {@code hdfs://host:8020/data/train}, not encoded; without a
   *     scheme, a path on the default file system
   * @param settings of Hadoop. The first settings for a user and an authority, such as a bucket,
   *     count: the file system is kept until the process ends
   * @throws IllegalArgumentException if the location is no URI, has credentials in it, or a scheme
   *     that the settings do not know
   * @throws StorageException if the file system cannot be reached
   */
  public static Storage at(String location, Configuration settings) {
    Path path = path(location);
    try {
      FileSystem files = FileSystems.of(path, settings);
      return cache(settings).of(new HadoopStorage(files.makeQualified(path), files, settings));
    } catch (org.apache.hadoop.fs.UnsupportedFileSystemException e) {
      throw notThere(path, HadoopErrors.reason(e, settings), e);
    } catch (IOException e) {
      throw HadoopErrors.of(settings, "reach", path, e);
    } catch (NoClassDefFoundError e) {
      throw notThere(path, "class " + e.getMessage() + " is missing", e);
    } catch (RuntimeException e) {
      // Thrown if the configuration names a class that is not on the class path.
      if (e.getCause() instanceof ClassNotFoundException missing) {
        throw notThere(path, HadoopErrors.reason(missing, settings), e);
      }
      throw e;
    }
  }

  /** Returns a location as a path without a password. */
  private static Path path(String location) {
    Path path = new Path(location);
    String user = path.toUri().getUserInfo();
    if (user != null && user.indexOf(':') >= 0) {
      throw new IllegalArgumentException("A location must not have a password in it: "
          + path.toUri().getScheme() + "://" + user.substring(0, user.indexOf(':')) + ":…@"
          + path.toUri().getHost() + path.toUri().getPath() + "; give credentials as settings");
    }
    String authority = path.toUri().getAuthority();
    if (user == null && authority != null && SPLIT_PASSWORD.matcher(authority).matches()) {
      throw new IllegalArgumentException("A location has no port after the host: "
          + path.toUri().getScheme() + "://…; if that is a password, give credentials as settings");
    }
    if ("s3a".equals(path.toUri().getScheme())
        && authority != null
        && path.toUri().getHost() == null) {
      throw new IllegalArgumentException("S3A cannot use the bucket '" + authority
          + "': its name is no name of a host, such as one with '_' or with a '-' at its end. Java,"
          + " Python and the command line reach the bucket by zrecord-storage-s3; for Spark, copy the"
          + " table to a bucket whose name has only a-z, 0-9, '-' and '.'");
    }
    return path;
  }

  /** Returns what {@code zrecord.cache.directory} and {@code zrecord.cache.bytes} say. */
  private static CacheSettings cache(Configuration settings) {
    Map<String, String> options = new HashMap<>();
    for (String name : List.of(CacheSettings.DIRECTORY, CacheSettings.BYTES)) {
      String value = settings.getTrimmed(SETTING_PREFIX + name);
      if (value != null) {
        options.put(name, value);
      }
    }
    return CacheSettings.of(options);
  }

  private static IllegalArgumentException notThere(Path path, String reason, Throwable cause) {
    return new IllegalArgumentException(
        "Cannot use " + path + ": " + reason
            + "; add the file system's library, of the release of Hadoop that runs, to the class"
            + " path, or correct the scheme",
        cause);
  }

  /** Returns the settings of Hadoop, not a copy. */
  public Configuration settings() {
    return settings;
  }

  @Override
  public String location() {
    return root.toString();
  }

  @Override
  public Object identity() {
    return new Identity(root, files);
  }

  @Override
  public boolean isRemote() {
    return true;
  }

  private Path resolve(String name) {
    Path path = root;
    for (String part : StorageNames.parts(name, location())) {
      path = new Path(path, new Path(null, null, part));
    }
    return path;
  }

  private Path resolveDirectory(String name) {
    return name.isEmpty() ? root : resolve(name);
  }

  @Override
  public boolean exists(String name) {
    Path path = resolveDirectory(name);
    try {
      return files.exists(path);
    } catch (org.apache.hadoop.fs.ParentNotDirectoryException e) {
      return false;
    } catch (AccessControlException e) {
      if (String.valueOf(e.getMessage()).contains("is not a directory")) {
        return false;
      }
      throw HadoopErrors.of(files.getConf(), "look at", path, e);
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "look at", path, e);
    }
  }

  @Override
  public long lengthBytes(String name) {
    return status(resolve(name)).getLen();
  }

  private FileStatus status(Path path) {
    try {
      FileStatus status = files.getFileStatus(path);
      if (status.isDirectory()) {
        throw new MissingFileException(
            path.toString(),
            "Cannot open " + path + ": it is a directory, not a file. Restore the file from a"
                + " copy");
      }
      if (status.isSymlink()) {
        throw new StorageException(
            path.toString(),
            "Cannot open " + path + ": it is a symbolic link, which is not followed below a"
                + " dataset. Put the file in its place");
      }
      return status;
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "open", path, e);
    }
  }

  @Override
  public Optional<StoredFile> find(String name) {
    try {
      FileStatus status = status(resolve(name));
      return Optional.of(new StoredFile(
          status.getPath().getName(), false, status.getLen(), status.getModificationTime()));
    } catch (MissingFileException e) {
      return Optional.empty();
    }
  }

  @Override
  public List<StoredFile> list(String directory) {
    Path path = resolveDirectory(directory);
    try {
      List<StoredFile> found = new ArrayList<>();
      var entries = files.listStatusIterator(path);
      while (entries.hasNext()) {
        FileStatus entry = entries.next();
        if (!entry.getPath().equals(path)) {
          found.add(new StoredFile(
              entry.getPath().getName(),
              entry.isDirectory(),
              entry.isDirectory() ? 0 : entry.getLen(),
              entry.getModificationTime()));
        }
      }
      return found;
    } catch (FileNotFoundException e) {
      return List.of();
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "list", path, e);
    }
  }

  @Override
  public List<StoredFile> listTree(String directory) {
    Path path = resolveDirectory(directory);
    try {
      for (int attempt = 1; ; attempt++) {
        try {
          return tree(path);
        } catch (FileNotFoundException e) {
          if (!files.exists(path)) {
            return List.of();
          }
          if (attempt == LIST_ATTEMPTS) {
            throw e;
          }
          // Somebody deleted a directory below before it was listed.
        }
      }
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "list", path, e);
    }
  }

  private List<StoredFile> tree(Path path) throws IOException {
    List<StoredFile> found = new ArrayList<>();
    var entries = files.listFiles(path, true);
    int from = path.toUri().getPath().length() + 1;
    while (entries.hasNext()) {
      FileStatus entry = entries.next();
      found.add(new StoredFile(
          entry.getPath().toUri().getPath().substring(from),
          false,
          entry.getLen(),
          entry.getModificationTime()));
    }
    return found;
  }

  /** Reads a file with one request where the file system can do that, as S3A. */
  @Override
  public byte[] read(String name, int maxBytes) {
    Path path = resolve(name);
    try {
      return SmallFile.read(files, path, maxBytes);
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "read", path, e);
    }
  }

  @Override
  public ReadableFile open(String name) {
    Path path = resolve(name);
    return new HadoopReadableFile(files, path, status(path));
  }

  @Override
  public ReadableFile open(String name, long lengthBytes) {
    return new HadoopReadableFile(files, resolve(name), lengthBytes);
  }

  /**
   * Creates a file. S3A does not look for a file of the name, which would cost two requests, and
   * writes without a condition: S3A repeats a request whose answer was lost, and would take its own
   * object for another's. Nobody else has the names of data files.
   */
  @Override
  public WritableFile create(String name) {
    Path path = resolve(name);
    boolean isConditional = publication() == Publication.CONDITIONAL_CREATE;
    try {
      FSDataOutputStreamBuilder<?, ?> builder =
          files.createFile(path).recursive().overwrite(isConditional);
      builder.opt(S3A_WITHOUT_PROBES, "true");
      return new HadoopWritableFile(files, path, builder.build(), isConditional);
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "create", path, e);
    }
  }

  /** Returns the way to publish, which is found at the first write. */
  private Publication publication() {
    Publication known = publication;
    if (known == null) {
      try {
        known = Publication.of(files, root, settings);
        PublicationProbe.require(known, files, root);
      } catch (Publication.NotPublishedException e) {
        throw HadoopErrors.of(files.getConf(), "write to", root, e.reason());
      } catch (IOException e) {
        throw HadoopErrors.of(files.getConf(), "write to", root, e);
      }
      publication = known;
    }
    return known;
  }

  @Override
  public boolean publish(String name, byte[] content) {
    Path path = resolve(name);
    Publication way = publication();
    try {
      return way.publish(files, path, content);
    } catch (Publication.NotPublishedException e) {
      throw HadoopErrors.of(files.getConf(), "publish", path, e.reason());
    } catch (IOException e) {
      // Also if access is denied: that may be the answer to a second try, and the first took
      // effect.
      throw Publication.unknown(files.getConf(), path, e);
    }
  }

  @Override
  public void replace(String name, byte[] content) {
    Path path = resolve(name);
    try (FSDataOutputStream stream = files.create(path, true)) {
      stream.write(content);
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "replace", path, e);
    }
  }

  /** Does nothing: a name is durable once its file is finished. */
  @Override
  public void forceDirectory(String directory) {
    resolveDirectory(directory);
  }

  @Override
  public boolean deleteIfEmpty(String directory) {
    Path path = resolveDirectory(directory);
    try {
      return !files.exists(path)
          || (files.getFileStatus(path).isDirectory() && files.delete(path, false));
    } catch (IOException e) {
      // It is not empty, most likely.
      return false;
    }
  }

  @Override
  public void delete(String name) {
    Path path = resolve(name);
    try {
      files.delete(path, true);
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "delete", path, e);
    }
  }

  @Override
  public void deleteAll(List<String> names) {
    List<Path> paths = names.stream().map(this::resolve).toList();
    try {
      ManyDeletions.delete(files, root, paths);
    } catch (IOException e) {
      throw HadoopErrors.of(files.getConf(), "delete files below", root, e);
    }
  }
}
