package io.zrecord.storage.cache;

import io.zrecord.storage.ByteSize;
import io.zrecord.storage.Storage;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Whether and where the blocks of a storage are kept on a local disk, as options say. Immutable.
 *
 * @param directory directory of the cache; null if there is none
 * @param maxBytes most bytes of the cache
 */
public record CacheSettings(@Nullable Path directory, long maxBytes) {
  /** Name of the option with the directory. */
  public static final String DIRECTORY = "cache.directory";

  /** Name of the option with the bound, such as {@code 200g}. */
  public static final String BYTES = "cache.bytes";

  private static final Set<String> NAMES = Set.of(DIRECTORY, BYTES);
  private static final long DEFAULT_BYTES = 10L << 30;

  /**
   * Reads the settings among options; other options are no matter.
   *
   * @throws IllegalArgumentException if the bound is no size, or given without a directory
   */
  public static CacheSettings of(Map<String, String> options) {
    String directory = options.get(DIRECTORY);
    String bytes = options.get(BYTES);
    if (directory == null) {
      if (bytes != null) {
        throw new IllegalArgumentException(
            "Option " + BYTES + " bounds a cache, and there is none; give " + DIRECTORY + " too");
      }
      return new CacheSettings(null, 0);
    }
    if (directory.isBlank()) {
      throw new IllegalArgumentException(
          "Option " + DIRECTORY + " is empty; give a directory on a local disk");
    }
    return new CacheSettings(Path.of(directory), bytes == null ? DEFAULT_BYTES : size(bytes));
  }

  /** Returns the options that are not settings of a cache. */
  public static Map<String, String> without(Map<String, String> options) {
    Map<String, String> others = new TreeMap<>(options);
    others.keySet().removeAll(NAMES);
    return others;
  }

  /**
   * Returns a storage that reads through the cache, or the storage itself if there is none.
   *
   * @throws IllegalArgumentException if the bound is below {@link BlockCache#LEAST_BYTES}
   */
  public Storage of(Storage storage) {
    return directory == null
        ? storage
        : CachedStorage.of(storage, BlockCache.at(directory, maxBytes));
  }

  private static long size(String text) {
    try {
      return ByteSize.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("Option " + BYTES + ": " + e.getMessage(), e);
    }
  }
}
