package io.zrecord.storage.hadoop;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageProvider;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Opens storages for programs that are not Spark: every scheme that Hadoop on the class path knows,
 * and no other provider names. Options are settings of Hadoop, such as {@code fs.s3a.endpoint},
 * beside those of {@code core-site.xml} and {@code hdfs-site.xml} on the class path. Thread-safe.
 */
public final class HadoopStorageProvider implements StorageProvider {

  /** The file systems that were opened with options, which Hadoop would not tell apart. */
  private static final Map<Key, FileSystem> WITH_OPTIONS = new HashMap<>();

  /** Has no {@code toString} that shows the options, which may be secrets. */
  private record Key(String root, Map<String, String> options) {
    @Override
    public String toString() {
      return root;
    }
  }

  /** Makes a provider; {@link java.util.ServiceLoader} does. */
  public HadoopStorageProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of();
  }

  /**
   * Opens the storage at a location. Storages with the same options share a file system, which is
   * kept until the process ends.
   *
   * @throws IllegalArgumentException if Hadoop is not on the class path or does not know the
   *     scheme, or an option has no name of a setting of Hadoop
   */
  @Override
  public Storage open(String location, Map<String, String> options) {
    options.keySet().forEach(HadoopStorageProvider::requireSetting);
    try {
      Configuration settings = new Configuration();
      options.forEach(settings::set);
      Path path = HadoopStorage.path(location);
      return options.isEmpty()
          ? HadoopStorage.at(location, settings)
          : HadoopStorage.at(path, settings, () -> withOptions(path, settings, options));
    } catch (NoClassDefFoundError e) {
      throw new IllegalArgumentException(
          "Cannot open " + location + ": Hadoop is not on the class path (" + e.getMessage()
              + " is missing); add hadoop-client-api and hadoop-client-runtime, or what"
              + " `hadoop classpath` prints",
          e);
    }
  }

  private static FileSystem withOptions(
      Path path, Configuration settings, Map<String, String> options) throws IOException {
    Key key = new Key(
        path.toUri().getScheme() + "://" + path.toUri().getAuthority(), Map.copyOf(options));
    synchronized (WITH_OPTIONS) {
      FileSystem known = WITH_OPTIONS.get(key);
      if (known == null) {
        known = FileSystems.newInstance(path, settings);
        WITH_OPTIONS.put(key, known);
      }
      return known;
    }
  }

  private static void requireSetting(String name) {
    boolean isSetting =
        name.startsWith("zrecord.") ? name.equals(Publication.SETTING) : name.indexOf('.') > 0;
    if (!isSetting) {
      throw new IllegalArgumentException("Option '" + name + "' is not known; give settings of"
          + " Hadoop, such as fs.s3a.endpoint or dfs.replication, or " + Publication.SETTING);
    }
  }
}
