package io.zrecord.cli;

import io.zrecord.errors.ValueTooLargeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files that are read whole, as values. Stateless. */
final class InputFiles {
  private InputFiles() {}

  /** Refuses what is not a file. */
  static void requireFile(Path file) {
    if (!Files.isRegularFile(file)) {
      throw new IllegalArgumentException("Cannot read " + file + ": "
          + (Files.exists(file) ? "it is not a file" : "there is no such file")
          + "; check the path");
    }
  }

  /** The content of a file. */
  static byte[] read(Path file) throws IOException {
    requireFile(file);
    long bytes = Files.size(file);
    if (bytes > Integer.MAX_VALUE - 8) {
      throw new ValueTooLargeException(
          file.toString(),
          "Cannot take " + file + " as a value: it has " + bytes + " bytes, and a value at most "
              + Integer.MAX_VALUE + "; split it");
    }
    return Files.readAllBytes(file);
  }
}
