package io.zrecord.storage.hadoop;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageProvider;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;

/**
 * Opens storages for programs that are not Spark: every scheme that Hadoop on the class path knows,
 * and no other provider names. Options are settings of Hadoop, such as {@code fs.s3a.endpoint},
 * beside those of {@code core-site.xml} and {@code hdfs-site.xml} on the class path. Thread-safe.
 */
public final class HadoopStorageProvider implements StorageProvider {

  /** Makes a provider; {@link java.util.ServiceLoader} does. */
  public HadoopStorageProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of();
  }

  /**
   * Opens the storage at a location. Storages with the same options share a file system.
   *
   * @throws IllegalArgumentException if Hadoop is not on the class path or does not know the
   *     scheme, or an option has no name of a setting of Hadoop
   */
  @Override
  public Storage open(String location, Map<String, String> options) {
    options.keySet().forEach(HadoopStorageProvider::requireSetting);
    try {
      return HadoopStorage.at(location, OwnSettings.added(new Configuration(), options));
    } catch (NoClassDefFoundError e) {
      throw new IllegalArgumentException(
          "Cannot open " + location + ": Hadoop is not on the class path (" + e.getMessage()
              + " is missing); add hadoop-client-api and hadoop-client-runtime, or what"
              + " `hadoop classpath` prints",
          e);
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
