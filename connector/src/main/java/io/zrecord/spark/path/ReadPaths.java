package io.zrecord.spark.path;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.options.StorageSettings;
import io.zrecord.spark.options.ZRecordOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The paths of a table as a user named them, and the paths that were found: a pattern names all
 * directories that match, sorted by their paths, at the place of the pattern. Immutable.
 *
 * @param named the paths as the user wrote them, for messages and plans
 * @param found the path of each dataset, in the order of their records
 * @param settings Hadoop's settings for these paths, besides the session's. Never shown
 * @param table the name of the table at the path, if a catalog found the path by a name
 */
public record ReadPaths(
    List<String> named, List<String> found, Map<String, String> settings, Optional<String> table) {
  /** Copies the lists. */
  public ReadPaths {
    named = List.copyOf(named);
    found = List.copyOf(found);
    settings = Map.copyOf(settings);
  }

  /** Returns a path that is taken as it is, with the session's settings. */
  public static ReadPaths literal(String path) {
    return literal(path, Map.of());
  }

  /** Returns a path that is taken as it is. */
  public static ReadPaths literal(String path, Map<String, String> settings) {
    return literal(List.of(path), settings);
  }

  private static ReadPaths literal(List<String> paths, Map<String, String> settings) {
    return new ReadPaths(paths, paths, settings, Optional.empty());
  }

  /** Returns the path of a table that a catalog knows by a name. */
  public static ReadPaths ofTable(String name, String path, Map<String, String> settings) {
    return new ReadPaths(List.of(path), List.of(path), settings, Optional.of(name));
  }

  /** Returns paths that are taken as they are, with the session's settings. */
  public static ReadPaths literal(List<String> paths) {
    return literal(paths, Map.of());
  }

  /**
   * Returns the paths of an identifier. Asks the file system only for a path with characters of a
   * pattern. If there is such a path itself, it is no pattern.
   *
   * @throws NotADatasetException if nothing matches a pattern
   * @throws IllegalArgumentException if a pattern is not valid
   */
  public static ReadPaths of(Identifier identifier) {
    Map<String, String> settings = PathIdentifiers.settings(identifier);
    List<String> named = PathIdentifiers.paths(identifier);
    if (PathIdentifiers.isLiteral(identifier)) {
      return literal(named, settings);
    }
    List<String> found = new ArrayList<>();
    for (String path : named) {
      found.addAll(matches(path, settings));
    }
    return new ReadPaths(named, found, settings, Optional.empty());
  }

  private static List<String> matches(String path, Map<String, String> settings) {
    if (!SparkStorages.isPattern(path)
        || SparkStorages.storageFor(path, settings).exists("")) {
      return List.of(path);
    }
    List<String> matches = SparkStorages.matches(path, settings);
    if (matches.isEmpty()) {
      throw new NotADatasetException(
          path,
          "Cannot read " + path + ": no directory matches the pattern. Check the pattern, or give"
              + " the option " + ZRecordOptions.GLOB_PATHS + "=false if this is the path itself");
    }
    return matches;
  }

  /** Returns the one form that all spellings of a single path have in common. */
  public String normalized() {
    return SparkStorages.normalized(found.get(0), settings);
  }

  /** Tells whether a pattern was taken as one. */
  public boolean isPattern() {
    return !named.equals(found);
  }

  /** Returns the datasets at the paths, in order. */
  public List<DatasetPath> datasets() {
    return found.stream().map(path -> DatasetPath.of(path, settings)).toList();
  }

  /**
   * Refuses options that name other paths, or that come too late because Spark has loaded the table
   * before.
   *
   * @throws IllegalArgumentException if there is such an option
   */
  public void requireObeyed(CaseInsensitiveStringMap options) {
    PathIdentifiers.refuseOthers(this, options);
    StorageSettings.requireLoaded(settings, options);
    if (isPattern() && !ReadConf.readsPatterns(options)) {
      throw new IllegalArgumentException("Option " + ZRecordOptions.GLOB_PATHS
          + " comes too late: the pattern " + this + " was replaced by what matches; use load(path)"
          + " or set spark.datasource." + ZRecordOptions.FORMAT + "." + ZRecordOptions.GLOB_PATHS);
    }
  }

  /** Returns the name of the table, or the paths as they were named. */
  @Override
  public String toString() {
    return table.orElseGet(() -> String.join(",", named));
  }
}
