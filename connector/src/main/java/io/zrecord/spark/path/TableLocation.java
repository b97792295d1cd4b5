package io.zrecord.spark.path;

import io.zrecord.storage.Storage;
import io.zrecord.storage.hadoop.HadoopStorage;
import io.zrecord.storage.local.LocalStorage;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.SerializableConfiguration;
import org.jspecify.annotations.Nullable;

/**
 * Where a table is, and how tasks reach it: the settings of Hadoop travel in a broadcast variable,
 * as those of Spark's own data sources do. Takes a few hundred bytes. Locations are equal if their
 * tables are. Immutable.
 */
public final class TableLocation implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Locations on the driver, so that a table's settings are sent once. */
  private static final Map<Storage, TableLocation> KNOWN =
      Collections.synchronizedMap(new WeakHashMap<>());

  private final String location;
  private final @Nullable Broadcast<SerializableConfiguration> settings;

  private TableLocation(String location, @Nullable Broadcast<SerializableConfiguration> settings) {
    this.location = location;
    this.settings = settings;
  }

  /** Returns the location of a storage, on the driver. */
  public static TableLocation of(Storage storage) {
    return KNOWN.computeIfAbsent(storage, TableLocation::locate);
  }

  private static TableLocation locate(Storage storage) {
    // A task opens the cache of its own machine, as the settings say.
    if (!(storage.uncached() instanceof HadoopStorage remote)) {
      return new TableLocation(storage.location(), null);
    }
    JavaSparkContext spark =
        JavaSparkContext.fromSparkContext(SparkSession.active().sparkContext());
    return new TableLocation(
        remote.location(), spark.broadcast(new SerializableConfiguration(remote.settings())));
  }

  /** Returns the storage, on the driver or in a task. */
  public Storage storage() {
    return settings == null
        ? LocalStorage.at(Path.of(location))
        : HadoopStorage.at(location, settings.value().value());
  }

  /** Returns the location as a user writes it. */
  @Override
  public String toString() {
    return location;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof TableLocation its && its.location.equals(location);
  }

  @Override
  public int hashCode() {
    return location.hashCode();
  }
}
