package io.zrecord.storage.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.StorageException;
import io.zrecord.internal.io.CacheFiles;
import io.zrecord.internal.io.LocalCacheFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.storage.StoredFile;
import io.zrecord.testing.Cases;
import io.zrecord.testing.ForwardingFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A local disk that fails costs requests, and nothing else. */
final class FailingDiskTest {
  private static final int BLOCK = BlockKey.BLOCK_BYTES;
  private static final String NAME = "chunk.zr";
  private static final long LENGTH = 18L * BLOCK;

  @TempDir
  Path directory;

  private final MadeUpStorage far = new MadeUpStorage();

  private void readAll(BlockCache cache) {
    for (long position = 0; position < LENGTH; position += 2 * BLOCK) {
      ByteBuffer region =
          CachedStorage.of(far, cache).open(NAME, LENGTH).region(position, 2 * BLOCK);
      assertThat(MadeUpStorage.wrongAt(NAME, position, region)).isNegative();
    }
  }

  /** Lets one operation fail, given its number from 0 on, or all from there. */
  private static final class Failing extends ForwardingCacheFiles {
    private final int first;
    private final int last;
    private int calls;

    Failing(CacheFiles files, int first, int last) {
      super(files);
      this.first = first;
      this.last = last;
    }

    private synchronized void call(String what) {
      int call = calls++;
      if (call >= first && call <= last) {
        throw new StorageException(location(), "injected failure of " + what);
      }
    }

    @Override
    public List<String> names() {
      call("names");
      return super.names();
    }

    @Override
    public Optional<StoredFile> look(String name) {
      call("look");
      return super.look(name);
    }

    @Override
    public MutableFile open(String name) {
      call("open");
      return new ForwardingFile(super.open(name)) {
        @Override
        public int read(long position, ByteBuffer target) {
          call("read");
          return super.read(position, target);
        }
      };
    }

    @Override
    public void write(String name, byte[] content) {
      call("write");
      super.write(name, content);
    }

    @Override
    public void delete(String name) {
      call("delete");
      super.delete(name);
    }

    @Override
    public void setModified(String name, long millis) {
      call("setModified");
      super.setModified(name, millis);
    }

    @Override
    public Space space() {
      call("space");
      return super.space();
    }
  }

  private BlockCache failing(Path where, int first, int last) {
    CacheFiles files = new Failing(TestCaches.roomy(where), first, last);
    return TestCaches.of(files, BlockCache.LEAST_BYTES, InstantSource.system());
  }

  @Test
  void aFailureOfAnyCallIsCountedAndReadersGetTheirBytes() {
    for (long call : Cases.before(220)) {
      Path where = directory.resolve("c" + call);
      BlockCache cache = failing(where, (int) call, (int) call);
      readAll(cache);
      readAll(cache);
      assertThat(cache.counters().failures()).as("call %s", call).isEqualTo(1);
    }
    BlockCache control = failing(directory.resolve("control"), -1, -1);
    readAll(control);
    readAll(control);
    assertThat(control.counters().failures()).isZero();
  }

  @Test
  void aDiskThatFailsForGoodIsNoCache() throws IOException {
    BlockCache cache = failing(directory, 0, Integer.MAX_VALUE);
    readAll(cache);
    readAll(cache);
    assertThat(cache.counters().hits()).isZero();
    assertThat(cache.counters().misses()).isEqualTo(36);
    assertThat(cache.counters().failures()).isPositive();
    assertThat(TestCaches.blocks(directory)).isEmpty();
  }

  @Test
  void aFullDiskKeepsWhatFits() throws IOException {
    CacheFiles full = new ForwardingCacheFiles(TestCaches.roomy(directory)) {
      private int left = 5;

      @Override
      public synchronized void write(String name, byte[] content) {
        if (left == 0) {
          throw new DiskFullException(location(), "No space left on device");
        }
        left--;
        super.write(name, content);
      }
    };
    BlockCache cache = TestCaches.of(full, 1L << 30, InstantSource.system());
    readAll(cache);
    assertThat(cache.counters().failures()).isEqualTo(13);
    readAll(cache);
    assertThat(cache.counters().hits()).isEqualTo(5);
    assertThat(cache.blocks().heldBytes()).isEqualTo(TestCaches.bytes(directory));
  }

  @Test
  void aFileSystemThatIsReallyFullKeepsWhatFits() throws Exception {
    assumeThat(ran("mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", directory.toString()))
        .as("mounting needs root")
        .isTrue();
    try {
      // The first cache does not know the end of the disk, the second one keeps a tenth free.
      BlockCache cache = TestCaches.at(directory, 64L << 20);
      readAll(cache);
      readAll(cache);
      assertThat(cache.counters().hits()).isEqualTo(5);
      assertThat(cache.counters().failures()).isEqualTo(26);
      assertThat(CacheContent.of(directory).unfinishedFiles()).isZero();
      CacheContent.clear(directory);
      BlockCache careful =
          TestCaches.of(new LocalCacheFiles(directory), 64L << 20, InstantSource.system());
      readAll(careful);
      assertThat(careful.counters().failures()).isZero();
      assertThat(careful.counters().evictions()).isPositive();
      assertThat(TestCaches.blocks(directory)).hasSize(5);
    } finally {
      assertThat(ran("umount", directory.toString())).isTrue();
    }
  }

  @Test
  void aDirectoryThatCannotBeMadeIsNoCache() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    BlockCache below = TestCaches.at(file.resolve("cache"), 64L << 20);
    readAll(below);
    assertThat(below.counters().failures()).isPositive();
    BlockCache itself = TestCaches.at(file, 64L << 20);
    readAll(itself);
    assertThat(itself.counters().failures()).isPositive();
    assertThat(file).isEmptyFile();
  }

  @Test
  void anInterruptedReaderGetsItsBytesAndKeepsTheInterrupt() {
    BlockCache cache = TestCaches.at(directory, 64L << 20);
    readAll(cache);
    Thread.currentThread().interrupt();
    readAll(cache);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(cache.counters().hits()).isEqualTo(18);
    assertThat(cache.counters().failures()).isZero();
  }

  private static boolean ran(String... command) throws IOException, InterruptedException {
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
