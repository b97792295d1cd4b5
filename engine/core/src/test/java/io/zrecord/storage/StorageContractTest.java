package io.zrecord.storage;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.testing.Budget;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What every {@link Storage} promises. */
public abstract class StorageContractTest {
  protected Storage storage;

  /** Makes a storage without any file. */
  protected abstract Storage emptyStorage() throws Exception;

  @BeforeEach
  void open() throws Exception {
    storage = emptyStorage();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "/a", "a/", "a//b", "a/../b", "../a", "a/./b"})
  void namesThatCouldLeaveTheRootAreRefused(String name) {
    assertThatThrownBy(() -> storage.open(name)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> storage.read(name, 10)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> storage.create(name)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> storage.delete(name)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> storage.publish(name, new byte[0]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> storage.lengthBytes(name))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void whatIsMissingIsMissing() {
    assertThat(storage.exists("no")).isFalse();
    assertThat(storage.exists("no/such/file")).isFalse();
    assertThat(storage.list("no")).isEmpty();
    assertThat(storage.list("")).isEmpty();
    assertThatThrownBy(() -> storage.open("no"))
        .isInstanceOf(MissingFileException.class)
        .hasMessageContaining("no");
    assertThatThrownBy(() -> storage.read("no/x", 10)).isInstanceOf(MissingFileException.class);
    assertThatThrownBy(() -> storage.lengthBytes("no")).isInstanceOf(MissingFileException.class);
    storage.delete("no/such/file");
  }

  @Test
  void writtenBytesAreReadBackInOrder() {
    byte[] large = new byte[3_000_001];
    for (int i = 0; i < large.length; i++) {
      large[i] = (byte) (i * 31);
    }
    ByteBuffer direct = ByteBuffer.allocateDirect(10).putInt(7).flip();
    try (WritableFile file = storage.create("a/b/c.bin")) {
      assertThat(file.positionBytes()).isZero();
      file.write(
          ByteBuffer.wrap("head".getBytes(UTF_8)),
          ByteBuffer.allocate(0),
          ByteBuffer.wrap(large),
          direct);
      assertThat(direct.hasRemaining()).isFalse();
      file.write();
      file.write(ByteBuffer.wrap(large, 5, 3));
      assertThat(file.positionBytes()).isEqualTo(4 + large.length + 4 + 3);
      file.force();
      file.finish();
    }
    storage.forceDirectory("a/b");
    assertThat(storage.lengthBytes("a/b/c.bin")).isEqualTo(4 + large.length + 4 + 3);
    byte[] all = storage.read("a/b/c.bin", 1 << 22);
    assertThat(new String(all, 0, 4, UTF_8)).isEqualTo("head");
    assertThat(java.util.Arrays.copyOfRange(all, 4, 4 + large.length)).isEqualTo(large);
    assertThat(all[all.length - 3]).isEqualTo(large[5]);
    assertThat(storage.list("a")).singleElement().satisfies(f -> {
      assertThat(f.name()).isEqualTo("b");
      assertThat(f.isDirectory()).isTrue();
    });
    assertThat(storage.list("a/b")).singleElement().satisfies(f -> {
      assertThat(f.name()).isEqualTo("c.bin");
      assertThat(f.isDirectory()).isFalse();
      assertThat(f.lengthBytes()).isEqualTo(all.length);
      assertThat(f.modifiedMillis()).isPositive();
    });
  }

  @Test
  void allFilesBelowADirectoryAreListed() {
    write("a/b/c", "1");
    write("a/d", "22");
    assertThat(storage.listTree("a")).extracting(StoredFile::name).containsOnly("b/c", "d");
    assertThat(storage.listTree("")).extracting(StoredFile::name).containsOnly("a/b/c", "a/d");
    assertThat(storage.listTree("")).extracting(StoredFile::lengthBytes).containsOnly(1L, 2L);
    assertThat(storage.listTree("no")).isEmpty();
  }

  @Test
  void aFileIsFoundAsAListingSays() {
    write("a/b", "22");
    StoredFile found = storage.find("a/b").orElseThrow();
    StoredFile listed = storage.list("a").get(0);
    assertThat(found.name()).isEqualTo("b");
    assertThat(found.isDirectory()).isFalse();
    assertThat(found.lengthBytes()).isEqualTo(2);
    // A time of whole seconds is never a later one.
    assertThat(found.modifiedMillis())
        .isBetween(listed.modifiedMillis() - 999, listed.modifiedMillis());
    assertThat(storage.find("a")).isEmpty();
    assertThat(storage.find("a/c")).isEmpty();
    assertThat(storage.find("no/c")).isEmpty();
  }

  @Test
  void regionsAreLittleEndianReadOnlyAndOutliveTheFile() {
    write("f", "0123456789");
    ByteBuffer region;
    ByteBuffer empty;
    try (ReadableFile file = storage.open("f")) {
      assertThat(file.lengthBytes()).isEqualTo(10);
      assertThat(file.path()).isEqualTo(storage.pathOf("f"));
      region = file.region(2, 8);
      empty = file.region(10, 0);
      assertThatThrownBy(() -> file.region(3, 8)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> file.region(-1, 1)).isInstanceOf(IllegalArgumentException.class);
    }
    storage.delete("f");
    assertThat(region.isReadOnly()).isTrue();
    assertThat(region.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
    assertThat(region.remaining()).isEqualTo(8);
    assertThat(region.getShort(0)).isEqualTo((short) ('2' | '3' << 8));
    assertThat(empty.remaining()).isZero();
  }

  /** A storage of which {@link Storage#create} says that files are replaced overrides this. */
  @Test
  protected void creatingOverAFileIsRefusedAndLeavesIt() {
    write("f", "old");
    assertThatThrownBy(() -> write("f", "new"))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("f");
    assertThat(storage.read("f", 10)).asString().isEqualTo("old");
  }

  @Test
  void aFileThatIsGivenUpIsNeverWhole() {
    try (WritableFile file = storage.create("d/f")) {
      file.write(ByteBuffer.wrap(new byte[100]));
    }
    if (storage.exists("d/f")) {
      assertThat(storage.lengthBytes("d/f")).isLessThanOrEqualTo(100);
    }
    WritableFile finished = storage.create("d/g");
    finished.write(ByteBuffer.wrap(new byte[100]));
    finished.finish();
    finished.close();
    assertThat(storage.lengthBytes("d/g")).isEqualTo(100);
  }

  @Test
  void aFileOfAKnownLengthIsRead() {
    write("f", "0123456789");
    try (ReadableFile file = storage.open("f", 10)) {
      assertThat(file.lengthBytes()).isEqualTo(10);
      assertThat(file.region(8, 2).get(1)).isEqualTo((byte) '9');
    }
    assertThatThrownBy(() -> read("no", 10)).isInstanceOf(MissingFileException.class);
    assertThatThrownBy(() -> read("f", 11)).isInstanceOf(RuntimeException.class);
  }

  /** Reads the last byte of a file that is said to have a length. */
  private byte read(String name, long lengthBytes) {
    try (ReadableFile file = storage.open(name, lengthBytes)) {
      return file.region(lengthBytes - 1, 1).get(0);
    }
  }

  @Test
  void aFileBeyondTheBoundIsCorrupt() {
    write("f", "12345");
    assertThat(storage.read("f", 5)).hasSize(5);
    assertThatThrownBy(() -> storage.read("f", 4))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("5");
  }

  @Test
  void aDirectoryIsNoFile() {
    write("d/f", "x");
    assertThatThrownBy(() -> storage.open("d"))
        .isInstanceOf(MissingFileException.class)
        .hasMessageContaining("directory");
    assertThatThrownBy(() -> storage.read("d", 10)).isInstanceOf(MissingFileException.class);
    assertThat(storage.exists("d")).isTrue();
  }

  @Test
  protected void belowAFileIsNothing() {
    write("d/f", "x");
    assertThat(storage.exists("d/f/g")).isFalse();
  }

  @Test
  void onlyAnEmptyDirectoryIsDeletedIfEmpty() {
    write("d/e/f", "x");
    assertThat(storage.deleteIfEmpty("d")).isFalse();
    assertThat(storage.deleteIfEmpty("d/e")).isFalse();
    assertThat(storage.exists("d/e/f")).isTrue();
    storage.delete("d/e/f");
    assertThat(storage.deleteIfEmpty("d/e")).isTrue();
    assertThat(storage.deleteIfEmpty("d")).isTrue();
    assertThat(storage.exists("d")).isFalse();
    assertThat(storage.deleteIfEmpty("no")).isTrue();
  }

  @Test
  void deletingTakesWholeDirectories() {
    write("d/e/f", "x");
    write("d/g", "x");
    write("h", "x");
    storage.delete("d");
    assertThat(storage.exists("d")).isFalse();
    storage.delete("h");
    assertThat(storage.list("")).isEmpty();
  }

  @Test
  void aFileIsReplacedWithoutALeftover() {
    storage.publish("m/0.json", new byte[1]);
    storage.replace("m/latest", "first".getBytes(UTF_8));
    storage.replace("m/latest", "second".getBytes(UTF_8));
    assertThat(storage.read("m/latest", 100)).asString().isEqualTo("second");
    assertThat(storage.list("m"))
        .extracting(StoredFile::name)
        .containsExactlyInAnyOrder("0.json", "latest");
  }

  @Test
  void aNameIsPublishedOnce() {
    assertThat(storage.publish("m/0.json", "first".getBytes(UTF_8))).isTrue();
    assertThat(storage.publish("m/0.json", "second".getBytes(UTF_8))).isFalse();
    assertThat(storage.publish("m/0.json", "first".getBytes(UTF_8))).isFalse();
    assertThat(storage.read("m/0.json", 100)).asString().isEqualTo("first");
    assertThat(storage.list("m")).extracting(StoredFile::name).containsExactly("0.json");
  }

  @Test
  void ofRacingPublishersExactlyOneWins() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      for (int round = 0; round < Budget.of(50); round++) {
        String name = "m/" + round;
        List<Callable<Boolean>> racers = new ArrayList<>();
        for (int racer = 0; racer < 4; racer++) {
          byte[] content = ("racer " + racer).getBytes(UTF_8);
          racers.add(() -> storage.publish(name, content));
        }
        int winner = -1;
        List<Future<Boolean>> outcomes = threads.invokeAll(racers);
        for (int racer = 0; racer < 4; racer++) {
          if (outcomes.get(racer).get()) {
            assertThat(winner).as("second winner of round %s", round).isNegative();
            winner = racer;
          }
        }
        assertThat(storage.read(name, 100)).asString().isEqualTo("racer " + winner);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  protected final void write(String name, String content) {
    try (WritableFile file = storage.create(name)) {
      file.write(ByteBuffer.wrap(content.getBytes(UTF_8)));
      file.finish();
    }
  }
}
