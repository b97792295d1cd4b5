package io.zrecord.internal.io;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * The numbers that file systems give to files (FORMAT.md section 21.2). A number tells a file from
 * its copies only where the file keeps the number for life. File systems of networks and of user
 * space may give another number after each mount. Stateless.
 */
final class FileNumbers {
  private static final Set<String> KEEPING = Set.of(
      "apfs",
      "bcachefs",
      "btrfs",
      "ext2",
      "ext3",
      "ext4",
      "f2fs",
      "hfs",
      "jfs",
      "overlay",
      "tmpfs",
      "ufs",
      "xfs",
      "zfs");

  private static final Path MOUNTS = Path.of("/proc/self/mountinfo");

  private FileNumbers() {}

  /** Returns the number of a file in decimal; empty if the file may get another number. */
  static Optional<String> of(Path path) throws IOException {
    return of(path, MOUNTS);
  }

  /**
   * Returns the number of a file, or nothing.
   *
   * @param mounts says what is mounted; need not exist
   */
  static Optional<String> of(Path path, Path mounts) throws IOException {
    return isKept(path, mounts) && Files.getAttribute(path, "unix:ino") instanceof Long number
        ? Optional.of(Long.toUnsignedString(number))
        : Optional.empty();
  }

  private static boolean isKept(Path path, Path mounts) {
    try {
      Path real = path.toRealPath();
      return areKeptOn(
          Files.exists(mounts)
              ? Mounts.typeAt(
                  Mounts.nameOf(real), Files.readString(mounts, StandardCharsets.ISO_8859_1))
              : Files.getFileStore(real).type());
    } catch (IOException e) {
      // A container may not see what is mounted.
      return false;
    }
  }

  /** Tells whether files keep their numbers on file systems of a type. */
  static boolean areKeptOn(String type) {
    return KEEPING.contains(type);
  }
}
