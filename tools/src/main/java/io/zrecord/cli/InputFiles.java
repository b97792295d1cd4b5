package io.zrecord.cli;

import io.zrecord.errors.ValueTooLargeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads whole files as values. Stateless. */
final class InputFiles {
  private InputFiles() {}

  /** Refuses anything that is not a file. */
  static void requireFile(Path file) {
    if (!Files.isRegularFile(file)) {
      throw new IllegalArgumentException("Cannot read " + file + ": "
          + (Files.exists(file) ? "it is not a file" : "there is no such file")
          + "; check the path");
    }
  }

  /** Returns the content of a file. */
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
