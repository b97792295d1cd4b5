package io.zrecord.sharing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.testing.Budget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Regions of a shared file: apart from each other, in the file, and used again. */
class SharedArenaTest {
  @TempDir
  Path directory;

  private Path file;
  private SharedArena arena;

  @BeforeEach
  void create() throws IOException {
    file = Files.writeString(directory.resolve("shared"), "what was there before");
    arena = new SharedArena(SharedFile.open(file));
  }

  @Test
  void theOtherProcessSeesWhatIsWritten() throws IOException {
    ByteBuffer first = arena.allocate(5000);
    ByteBuffer second = arena.allocate(3);
    first.put(4999, (byte) 7);
    second.put(0, (byte) 9);
    byte[] seen = Files.readAllBytes(file);
    assertThat(seen).hasSize((int) arena.lengthBytes());
    assertThat(seen[(int) arena.at(first) + 4999]).isEqualTo((byte) 7);
    assertThat(seen[(int) arena.at(second)]).isEqualTo((byte) 9);
    assertThat(arena.at(ByteBuffer.allocateDirect(0))).isZero();
  }

  @Test
  void neighboursThatAreFreeAreJoined() {
    List<ByteBuffer> regions = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      regions.add(arena.allocate(4096));
    }
    long length = arena.lengthBytes();
    for (int i : new int[] {0, 2, 1, 3}) {
      arena.free(regions.get(i));
    }
    assertThat(arena.at(arena.allocate(4 * 4096))).isZero();
    assertThat(arena.lengthBytes()).isEqualTo(length);
  }

  @Test
  void regionsNeverOverlap() {
    Random random = Budget.random();
    List<ByteBuffer> regions = new ArrayList<>();
    for (int step = 0; step < Budget.of(2000); step++) {
      if (regions.size() < 20 && random.nextBoolean()) {
        ByteBuffer region = arena.allocate(1 + random.nextInt(20_000));
        for (ByteBuffer other : regions) {
          assertThat(arena.at(region) + region.capacity() <= arena.at(other)
                  || arena.at(other) + other.capacity() <= arena.at(region))
              .as("step %d", step)
              .isTrue();
        }
        regions.add(region);
      } else if (!regions.isEmpty()) {
        arena.free(regions.remove(random.nextInt(regions.size())));
      }
    }
    assertThat(arena.lengthBytes()).isLessThan(4 * 20 * 20_000);
  }

  @Test
  void whatWasNotAllocatedIsNotFreed() {
    ByteBuffer region = arena.allocate(10);
    arena.free(region);
    assertThatThrownBy(() -> arena.free(region)).isInstanceOf(IllegalArgumentException.class);
  }
}
