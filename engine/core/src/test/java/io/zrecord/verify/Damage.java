package io.zrecord.verify;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;

/** Damages files as media and people do. */
public final class Damage {
  private Damage() {}

  /** Flips a bit of a byte; negative positions count from the end. */
  public static void flip(Path file, long position) {
    try {
      byte[] content = Files.readAllBytes(file);
      content[(int) (position < 0 ? content.length + position : position)] ^= 0x10;
      Files.write(file, content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static void cut(Path file, long length) {
    try {
      Files.write(file, Arrays.copyOf(Files.readAllBytes(file), (int) length));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static void delete(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Copies a directory, to damage the copy. */
  public static Path copy(Path from, Path to) {
    try {
      Files.walkFileTree(from, new SimpleFileVisitor<>() {
        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
            throws IOException {
          Files.createDirectories(to.resolve(from.relativize(directory).toString()));
          return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
            throws IOException {
          Path copy = to.resolve(from.relativize(file).toString());
          if (file.getFileName().toString().startsWith("writer-")) {
            // As after a loss of power: what tells a copy from its original is gone.
            Files.createFile(copy);
          } else {
            Files.copy(file, copy);
          }
          return FileVisitResult.CONTINUE;
        }
      });
      return to;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
