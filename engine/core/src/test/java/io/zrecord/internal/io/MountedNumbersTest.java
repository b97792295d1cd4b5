package io.zrecord.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is mounted decides whether the number of a file counts. Python reads the same texts. */
final class MountedNumbersTest {
  @TempDir
  Path directory;

  private static byte[] resource(String name) throws IOException {
    try (InputStream stream = MountedNumbersTest.class.getResourceAsStream("/mounts/" + name)) {
      return stream.readAllBytes();
    }
  }

  private static String bytesOf(String name) {
    return new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }

  @Test
  void theMountCountsThatNoOtherHides() throws IOException {
    String mounts = new String(resource("mountinfo"), StandardCharsets.ISO_8859_1);
    int cases = 0;
    for (JsonNode row : new ObjectMapper().readTree(resource("types.json"))) {
      String path = row.get("path").textValue();
      assertThat(Mounts.typeAt(bytesOf(path), mounts))
          .as(path)
          .isEqualTo(row.get("type").textValue());
      cases++;
    }
    assertThat(cases).isPositive();
    assertThat(Mounts.typeAt("/x", "")).isEmpty();
    assertThat(Mounts.typeAt("/x", "40 22 0:40 / /data rw - xfs /dev/sdb rw\n")).isEmpty();
    assertThat(Mounts.typeAt("/data/x", "40 22 0:40 / /data rw - xfs /dev/sdb rw\n"))
        .isEqualTo("xfs");
    // The first of all is mounted on itself.
    assertThat(Mounts.typeAt("/x", "1 1 0:1 / / rw - ext4 /dev/sdb rw\n")).isEqualTo("ext4");
  }

  @Test
  void aNameHasTheBytesOfItsPath() {
    assertThat(Mounts.nameOf(Path.of("/a b/100%/c%20d/+\\040")))
        .isEqualTo("/a b/100%/c%20d/+\\040");
  }

  /** Returns a text that says that only this test's directory is mounted. */
  private Path mounted(String type) throws IOException {
    String point = directory.toRealPath().toString().replace("\\", "\\134").replace(" ", "\\040");
    return Files.writeString(
        directory.resolve("mounts"),
        "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:2 / " + point + " rw - " + type + " source rw\n");
  }

  @Test
  void theNumberCountsByWhatIsMounted() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "content");
    Path link = Files.createSymbolicLink(directory.resolve("link"), directory);
    String number = Long.toUnsignedString((long) Files.getAttribute(file, "unix:ino"));
    assertThat(FileNumbers.of(file, mounted("xfs"))).contains(number);
    assertThat(FileNumbers.of(link.resolve("file"), mounted("xfs"))).contains(number);
    assertThat(FileNumbers.of(file, mounted("nfs4"))).isEmpty();
    assertThat(FileNumbers.of(link.resolve("file"), mounted("fuse.ext4"))).isEmpty();
    Path none = Files.writeString(directory.resolve("none"), "");
    assertThat(FileNumbers.of(file, none)).isEmpty();
  }

  @Test
  void theTypeOfTheFileStoreCountsWhereNothingSaysWhatIsMounted() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "content");
    boolean isKept = FileNumbers.areKeptOn(Files.getFileStore(file).type());
    assertThat(FileNumbers.of(file, directory.resolve("absent")).isPresent()).isEqualTo(isKept);
  }
}
