package io.zrecord.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A number tells files apart only where it is kept. */
final class FileNumbersTest {
  @Test
  void numbersCountOnFileSystemsThatKeepThem() {
    assertThat(List.of("ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs"))
        .allMatch(FileNumbers::areKeptOn);
    assertThat(List.of("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "fuseblk", "9p", "virtiofs"))
        .noneMatch(FileNumbers::areKeptOn);
  }

  @Test
  void aCopyHasAnotherNumber(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "content");
    Path copy = Files.copy(file, directory.resolve("copy"));
    Path moved = directory.resolve("moved");
    String number = FileNumbers.of(file).orElse("");
    if (FileNumbers.areKeptOn(Files.getFileStore(directory).type())) {
      assertThat(number).matches("[0-9]+");
      assertThat(FileNumbers.of(copy)).isPresent().get().isNotEqualTo(number);
    } else {
      assertThat(number).isEmpty();
    }
    Files.move(file, moved);
    assertThat(FileNumbers.of(moved).orElse("")).isEqualTo(number);
  }
}
