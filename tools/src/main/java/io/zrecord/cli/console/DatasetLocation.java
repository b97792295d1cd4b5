package io.zrecord.cli.console;

import io.zrecord.Storages;
import io.zrecord.storage.Storage;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Where a dataset is, as the user wrote it: a path or a URI. The options of its storage are known
 * only when the whole command line was read. Immutable.
 */
public final class DatasetLocation {
  /** What a command has before its arguments were read. */
  public static final DatasetLocation NONE = new DatasetLocation("", Map::of);

  private final String location;
  private final Supplier<Map<String, String>> options;

  /**
   * Keeps a location.
   *
   * @param location a path, or a URI that is not encoded
   * @param options returns the options of the storage, by name
   */
  public DatasetLocation(String location, Supplier<Map<String, String>> options) {
    this.location = location;
    this.options = options;
  }

  /**
   * Opens the storage at this location.
   *
   * @throws IllegalArgumentException if no storage knows the scheme, or an option is not known
   */
  public Storage storage() {
    return Storages.at(location, options.get());
  }

  /**
   * Returns the directory of a store that is written online.
   *
   * @throws IllegalArgumentException if the location is not on a local file system
   */
  public Path store() {
    return Storages.localPath(location)
        .orElseThrow(() -> new IllegalArgumentException("Cannot open the store " + location
            + ": a store is on a local file system; give a path"));
  }

  /** Returns the location as the user wrote it. */
  @Override
  public String toString() {
    return location;
  }
}
