package io.zrecord.storage.hadoop;

import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.jspecify.annotations.Nullable;

/**
 * Opens file systems: the ones that Hadoop keeps, and for S3A and ABFS one of its own for each
 * bucket or container and user. The streams of Hadoop 3.5 would ask for the length of each object
 * first, read 1 MiB where a few KiB are wanted, and keep what they read; classic streams ask for a
 * range and nothing else. Thread-safe.
 */
final class FileSystems {
  private static final String STREAM_TYPE = "fs.s3a.input.stream.type";
  private static final String METRICS = "fs.azure.metrics.format";
  private static final String CONNECTIONS = "fs.s3a.connection.maximum";
  private static final String PART_BYTES = "fs.s3a.multipart.size";

  /** Schemes whose file systems have settings that others in the process may not want. */
  private static final Set<String> TUNED = Set.of("s3a", "abfs", "abfss");

  private record Key(String scheme, String authority, UserGroupInformation user) {}

  private static final Map<Key, Opening> OPENED = new ConcurrentHashMap<>();

  private FileSystems() {}

  /** Returns the file system of a path, which is kept until the process ends. */
  static FileSystem of(Path path, Configuration settings) throws IOException {
    if (OwnSettings.areIn(settings)) {
      return OwnSettings.fileSystem(path, settings);
    }
    String scheme = String.valueOf(path.toUri().getScheme()).toLowerCase(Locale.ROOT);
    if (!TUNED.contains(scheme)) {
      return path.getFileSystem(settings);
    }
    if (settings.getBoolean("fs." + scheme + ".impl.disable.cache", false)) {
      return newInstance(path, settings);
    }
    Key key = new Key(
        scheme,
        String.valueOf(path.toUri().getAuthority()).toLowerCase(Locale.ROOT),
        UserGroupInformation.getCurrentUser());
    return OPENED
        .computeIfAbsent(key, unknown -> new Opening())
        .get(() -> newInstance(path, settings));
  }

  /**
   * A file system that is opened at first use, which may take requests. Only who needs it waits. A
   * failure is not remembered. Thread-safe.
   */
  static final class Opening {
    private @Nullable FileSystem opened;

    /** Makes a file system. */
    interface Maker {
      FileSystem make() throws IOException;
    }

    synchronized FileSystem get(Maker maker) throws IOException {
      if (opened == null) {
        opened = maker.make();
      }
      return opened;
    }
  }

  /** Opens a file system that nobody else has. */
  static FileSystem newInstance(Path path, Configuration settings) throws IOException {
    return FileSystem.newInstance(path.toUri(), tuned(settings));
  }

  /**
   * Returns a copy of settings in which S3A has classic streams, a connection for each request of a
   * gather, and uploads parts of 16 MiB while the next ones are written, unless they say otherwise.
   * ABFS counts no reads of footers: in Hadoop 3.5.0 these counters throw a
   * {@link NullPointerException} if two threads read one small file.
   */
  static Configuration tuned(Configuration settings) {
    Configuration own = new Configuration(settings);
    own.setIfUnset(STREAM_TYPE, "classic");
    own.setIfUnset(METRICS, "INTERNAL_BACKOFF_METRIC_FORMAT");
    setIfDefault(own, CONNECTIONS, "640");
    setIfDefault(own, PART_BYTES, "16M");
    return own;
  }

  private static void setIfDefault(Configuration settings, String name, String value) {
    String[] sources = settings.getPropertySources(name);
    if (sources == null || sources[sources.length - 1].equals("core-default.xml")) {
      settings.set(name, value);
    }
  }
}
