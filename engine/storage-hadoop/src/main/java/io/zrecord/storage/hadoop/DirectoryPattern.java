package io.zrecord.storage.hadoop;

import io.zrecord.Storages;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Finds the directories that a pattern of Hadoop matches: <code>*</code>, {@code ?}, {@code [a-c]}
 * and <code>{a,b}</code>, and a backslash before a character that stands for itself. Stateless.
 */
public final class DirectoryPattern {
  private static final String LOCAL = "file:";
  private static final String SPECIAL = "*?[]{}\\";

  private DirectoryPattern() {}

  /** Tells whether a location has a character that is special in a pattern. */
  public static boolean isPattern(String location) {
    return location.chars().anyMatch(character -> SPECIAL.indexOf(character) >= 0);
  }

  /** Hadoop lists what is beside the matches, and fails at a name with a colon. */
  private static FileStatus[] matching(FileSystem files, Path path, String pattern)
      throws IOException {
    try {
      return files.globStatus(path);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "Cannot read " + pattern + ": " + e.getMessage() + ". Patterns do not work beside a name"
              + " with a colon; rename what has the name, or give the paths one by one",
          e);
    }
  }

  /**
   * Returns the directories that match, sorted by their paths, with a scheme if the pattern has
   * one. Files that match are left out.
   *
   * @param pattern a path or a URI with a pattern in the path, not encoded
   * @param isLocal whether a pattern without a scheme is on the local file system
   * @throws IllegalArgumentException if the pattern is not valid
   * @throws io.zrecord.errors.StorageException if the file system cannot be asked
   */
  public static List<String> matches(String pattern, boolean isLocal, Configuration settings) {
    Optional<java.nio.file.Path> local = Storages.localPath(pattern).filter(path -> isLocal);
    Path path = local
        .map(there -> new Path(null, null, there.toAbsolutePath().toString()))
        .orElseGet(() -> new Path(pattern));
    String scheme = pattern.regionMatches(true, 0, LOCAL, 0, LOCAL.length()) ? LOCAL : "";
    try {
      FileSystem files =
          local.isPresent() ? FileSystem.getLocal(settings) : FileSystems.of(path, settings);
      FileStatus[] found = matching(files, path, pattern);
      if (found == null) {
        return List.of();
      }
      return Arrays.stream(found)
          .filter(FileStatus::isDirectory)
          .map(FileStatus::getPath)
          .map(match -> local.isPresent() ? scheme + match.toUri().getPath() : match.toString())
          .sorted()
          .toList();
    } catch (IOException e) {
      String reason = String.valueOf(e.getMessage());
      if (reason.startsWith("Illegal file pattern")) {
        throw new IllegalArgumentException(
            "Cannot read " + pattern + ": " + reason
                + ". Put a backslash before a character that stands for itself",
            e);
      }
      throw HadoopErrors.of(settings, "look for", path, e);
    }
  }
}
