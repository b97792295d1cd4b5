package io.zrecord.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;

/**
 * A file that cannot be removed, and so keeps its directory from being removed, as hidden files do
 * that NFS and FUSE keep for programs that have a deleted file open. The directories above can be
 * moved. For root the file is immutable, for others its directory cannot be changed. Tests that
 * cannot have such a file are skipped.
 */
public final class StuckFile implements AutoCloseable {
  private final Path root;
  private final String name;

  private StuckFile(Path root, String name) {
    this.root = root;
    this.name = name;
  }

  /**
   * Creates the file, which looks old, and its directories.
   *
   * @param root a directory below which the file stays, wherever it is moved
   * @param file below the root, with a name that no other file there has
   */
  public static StuckFile at(Path root, Path file) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "stuck");
    Files.setLastModifiedTime(file, FileTime.fromMillis(0));
    StuckFile stuck = new StuckFile(root, String.valueOf(file.getFileName()));
    change(file, true);
    assumeTrue(isStuck(file), "nothing keeps this user from removing files here");
    return stuck;
  }

  private static boolean isStuck(Path file) {
    try {
      Files.delete(file);
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  private static void change(Path file, boolean sticks) throws IOException {
    Files.setPosixFilePermissions(
        file.getParent(), PosixFilePermissions.fromString(sticks ? "r-x------" : "rwx------"));
    try {
      new ProcessBuilder("chattr", sticks ? "+i" : "-i", file.toString())
          .redirectErrorStream(true)
          .start()
          .onExit()
          .join();
    } catch (IOException e) {
      // There is no such program.
    }
  }

  /** Returns the place of the file now. */
  public Path path() throws IOException {
    try (Stream<Path> below = Files.walk(root)) {
      return below
          .filter(path -> String.valueOf(path.getFileName()).equals(name))
          .findAny()
          .orElseThrow();
    }
  }

  /** Lets the file be removed. */
  @Override
  public void close() throws IOException {
    change(path(), false);
  }
}
