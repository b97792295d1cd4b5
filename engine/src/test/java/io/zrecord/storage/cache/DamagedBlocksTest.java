package io.zrecord.storage.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Budget;
import io.zrecord.testing.Cases;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever became of the files of a cache, a reader gets the bytes of the storage. */
final class DamagedBlocksTest {
  private static final int BLOCK = BlockKey.BLOCK_BYTES;
  private static final long MAX_BYTES = 64L << 20;
  private static final String NAME = "chunk.zr";

  /** Blocks of 1 MiB and a last one of 200,000 bytes. */
  private static final int LENGTH = 2 * BLOCK + 200_000;

  private final MadeUpStorage far = new MadeUpStorage();

  @TempDir
  Path directory;

  private byte[] whole = new byte[0];

  @BeforeEach
  void makeUpFile() {
    whole = MadeUpStorage.bytes(NAME, 0, LENGTH);
  }

  private ByteBuffer read(BlockCache cache, int position, int lengthBytes) {
    return CachedStorage.of(far, cache).open(NAME, LENGTH).region(position, lengthBytes);
  }

  private boolean isRight(BlockCache cache, int position, int lengthBytes) {
    return read(cache, position, lengthBytes).equals(ByteBuffer.wrap(whole, position, lengthBytes));
  }

  private BlockCache cache() {
    return TestCaches.at(directory, MAX_BYTES);
  }

  @Test
  void anyFlippedBitIsFoundAndTheBlockIsFetchedAgain() throws IOException {
    assertThat(isRight(cache(), 0, LENGTH)).isTrue();
    // One file serves for all flips, the last block: the request for it is short.
    Path file = fileOfLastBlock();
    byte[] intact = Files.readAllBytes(file);
    int headerBytes = intact.length - 200_000;
    BlockCache cache = cache();
    LongStream flips = LongStream.concat(
        Arrays.stream(Cases.before(headerBytes + 20)),
        Budget.random().longs(20, headerBytes, intact.length));
    for (long flip : flips.toArray()) {
      int at = (int) flip;
      long failures = cache.counters().failures();
      byte[] flipped = intact.clone();
      flipped[at] ^= (byte) (1 << at % 8);
      Files.write(file, flipped);
      assertThat(isRight(cache, 2 * BLOCK, 200_000)).as("byte %s", at).isTrue();
      assertThat(cache.counters().failures()).as("byte %s", at).isEqualTo(failures + 1);
      assertThat(Files.readAllBytes(file)).as("byte %s", at).isEqualTo(intact);
    }
  }

  @Test
  void withoutTheChecksumAFlippedBitIsAWrongByte() throws IOException {
    assertThat(isRight(TestCaches.unchecked(directory, MAX_BYTES), 0, LENGTH)).isTrue();
    Path file = fileOfLastBlock();
    byte[] flipped = Files.readAllBytes(file);
    flipped[flipped.length - 1] ^= 1;
    Files.write(file, flipped);
    assertThat(isRight(TestCaches.unchecked(directory, MAX_BYTES), 0, LENGTH)).isFalse();
  }

  @Test
  void aCutBlockIsFetchedAgain() throws IOException {
    assertThat(isRight(cache(), 0, LENGTH)).isTrue();
    Path file = fileOfLastBlock();
    byte[] intact = Files.readAllBytes(file);
    LongStream lengths = LongStream.concat(
        Arrays.stream(Cases.before(150)), Budget.random().longs(20, 150, intact.length));
    for (long length : lengths.toArray()) {
      Files.write(file, Arrays.copyOf(intact, (int) length));
      assertThat(isRight(cache(), 2 * BLOCK, 200_000)).as("length %s", length).isTrue();
      assertThat(Files.size(file)).isEqualTo(intact.length);
    }
  }

  @Test
  void aBlockUnderTheNameOfAnotherIsNotTaken() throws IOException {
    assertThat(isRight(cache(), 0, LENGTH)).isTrue();
    List<Path> files = TestCaches.blocks(directory);
    byte[] first = Files.readAllBytes(files.get(0));
    byte[] second = Files.readAllBytes(files.get(1));
    Files.write(files.get(0), second);
    Files.write(files.get(1), first);
    BlockCache cache = cache();
    assertThat(isRight(cache, 0, LENGTH)).isTrue();
    assertThat(cache.counters().failures()).isEqualTo(2);
  }

  @Test
  void anyDamageOfAnyBlockGivesTheBytesOfTheStorage() throws IOException {
    Random random = Budget.random();
    BlockCache kept = cache();
    for (int i = 0; i < Budget.of(200); i++) {
      assertThat(isRight(kept, 0, LENGTH)).as("mutation %s", i).isTrue();
      damage(random);
      BlockCache reader = random.nextBoolean() ? kept : cache();
      for (int region = 0; region < 5; region++) {
        int length = random.nextInt(BLOCK + 1);
        int position = random.nextInt(LENGTH - length + 1);
        assertThat(isRight(reader, position, length))
            .as("mutation %s, %s bytes at %s", i, length, position)
            .isTrue();
      }
    }
    assertThat(kept.counters().failures()).isPositive();
  }

  private void damage(Random random) throws IOException {
    List<Path> files = TestCaches.blocks(directory);
    Path file = files.get(random.nextInt(files.size()));
    byte[] content = Files.readAllBytes(file);
    int at = random.nextInt(content.length);
    int to = at + random.nextInt(content.length - at) + 1;
    switch (random.nextInt(7)) {
      case 0 -> content[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> Arrays.fill(content, at, to, (byte) 0);
      case 2 -> content = Arrays.copyOf(content, at);
      case 3 -> content = Arrays.copyOf(content, content.length + to);
      case 4 -> System.arraycopy(content.clone(), at, content, 0, to - at);
      case 5 -> content = Files.readAllBytes(files.get(random.nextInt(files.size())));
      default -> {
        Files.delete(file);
        return;
      }
    }
    Files.write(file, content, StandardOpenOption.TRUNCATE_EXISTING);
  }

  private Path fileOfLastBlock() throws IOException {
    for (Path file : TestCaches.blocks(directory)) {
      if (Files.size(file) < BLOCK) {
        return file;
      }
    }
    throw new AssertionError("The last block is not in the cache");
  }
}
