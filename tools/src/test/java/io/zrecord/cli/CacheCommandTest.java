package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.cli.console.ExitCodes;
import io.zrecord.storage.Storage;
import io.zrecord.storage.cache.BlockCache;
import io.zrecord.storage.cache.CachedStorage;
import io.zrecord.testing.CacheRoom;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.testing.UnmappedStorage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command that looks into a cache of blocks. */
final class CacheCommandTest {
  @TempDir
  Path directory;

  private String location = "";

  @BeforeEach
  void twoBlocks() throws IOException {
    Storage far = new UnmappedStorage(new MemoryStorage(), 1 << 22);
    location = far.location();
    far.publish("a.zr", new byte[(1 << 20) + 1]);
    CachedStorage.of(far, BlockCache.at(directory, BlockCache.LEAST_BYTES))
        .open("a.zr")
        .region(0, (1 << 20) + 1);
    Files.writeString(directory.resolve("notes.txt"), "mine");
  }

  @Test
  void blocksAreListedByTable() throws IOException {
    CacheRoom.assumeIn(directory);
    List<String> lines = Cli.run("cache", directory).lines();
    assertThat(lines).hasSize(2);
    assertThat(lines.get(0)).startsWith(location + ": 2 blocks, 1048").contains(", used ", " to ");
    assertThat(lines.get(1)).startsWith("all: 2 blocks, 1048").endsWith(" bytes of 1 tables");
    assertThat(Cli.run("cache", "--json", directory).out())
        .contains("\"cleared\":false,\"blocks\":2,\"bytes\":1048", "\"location\":\"" + location);
  }

  @Test
  void clearingLeavesOtherFiles() throws IOException {
    CacheRoom.assumeIn(directory);
    assertThat(Cli.run("cache", "--clear", directory).lines().get(1))
        .startsWith("deleted 2 blocks, ");
    assertThat(Cli.run("cache", directory).lines())
        .containsExactly("all: 0 blocks, 0 bytes of 0 tables");
    assertThat(directory.resolve("notes.txt")).hasContent("mine");
  }

  @Test
  void damagedBlocksAndUnfinishedFilesAreCounted() throws IOException {
    CacheRoom.assumeIn(directory);
    try (var blocks = Files.newDirectoryStream(directory, "*.block")) {
      for (Path block : blocks) {
        Files.write(block, new byte[10]);
      }
    }
    Files.createFile(directory.resolve(
        ".zr-00000000000000000000000000000000.block.9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11.tmp"));
    assertThat(Cli.run("cache", directory).lines())
        .containsExactly(
            "damaged: 2 blocks, 20 bytes",
            "unfinished: 1 files, 0 bytes",
            "all: 2 blocks, 20 bytes of 0 tables");
    Cli.run("cache", "--clear", directory);
    assertThat(directory).isDirectoryContaining("glob:**notes.txt");
    assertThat(Cli.run("cache", directory).out()).startsWith("all: 0 blocks, 0 bytes");
  }

  @Test
  void aMissingDirectoryIsAMistake() {
    Cli.Said said = Cli.run("cache", directory.resolve("no"));
    assertThat(said.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(said.err()).contains("check the path of the cache");
  }
}
