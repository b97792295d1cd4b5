package io.zrecord.internal.store.rewrite;

import io.zrecord.errors.FileErrors;
import io.zrecord.internal.io.LocalMutableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** A temporary directory, for tables that are put in order before they are used. */
public final class StagedFiles implements AutoCloseable {
  private final Path directory;

  private StagedFiles(Path directory) {
    this.directory = directory;
  }

  /**
   * Makes a directory.
   *
   * @param action what the directory is for, as a verb, such as {@code "copy"}
   */
  public static StagedFiles of(String action, Path store) {
    try {
      return new StagedFiles(Files.createTempDirectory(prefix(action)));
    } catch (IOException e) {
      throw FileErrors.of(action + " by a temporary directory", store, e);
    }
  }

  /** Returns the beginning of the names of this process's directories. */
  static String prefix(String action) {
    return "zrecord-" + action + "-" + ProcessHandle.current().pid() + "-";
  }

  public LocalMutableFiles files() {
    return new LocalMutableFiles(directory);
  }

  /** Removes the directory with its files. */
  @Override
  public void close() {
    new LocalMutableFiles(Objects.requireNonNull(directory.getParent()))
        .delete(String.valueOf(directory.getFileName()));
  }
}
