package io.zrecord.internal.io;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.zrecord.errors.FileUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the live mappings, because a process that uses up {@code vm.max_map_count} aborts without
 * an exception. A mapping is live until the garbage collector releases it. A heap that is hardly
 * used may not be collected for hours, so this class requests a collection when dropped mappings
 * pile up. Thread-safe.
 */
public final class MapBudget {
  private static final int FALLBACK_LIMIT = 64_000;
  private static final int LIMIT = kernelLimit();
  private static final Cleaner CLEANER = Cleaner.create();
  private static final AtomicInteger LIVE = new AtomicInteger();
  private static final int COLLECTIONS = 25;
  private static final long COLLECTION_WAIT_MILLIS = 20;

  private MapBudget() {}

  /**
   * Returns the number of mappings that readers may keep: a quarter of the kernel's limit for the
   * process.
   */
  public static int budget() {
    return LIMIT / 4;
  }

  /** Returns the number of mappings not released yet. */
  public static int live() {
    return LIVE.get();
  }

  static ByteBuffer map(FileChannel channel, Path path, long position, int lengthBytes)
      throws IOException {
    return map(channel, path, position, lengthBytes, false);
  }

  static ByteBuffer map(
      FileChannel channel, Path path, long position, int lengthBytes, boolean writable)
      throws IOException {
    if (LIVE.get() >= LIMIT / 2) {
      collect();
      if (LIVE.get() >= LIMIT / 2) {
        throw new FileUnavailableException(
            path.toString(),
            "Cannot map " + path + ": " + LIVE.get()
                + " mappings are in use, of " + LIMIT
                + " that the kernel grants. Release batches and readers, use larger chunks,"
                + " or raise vm.max_map_count");
      }
    }
    ByteBuffer map = channel.map(
        writable ? FileChannel.MapMode.READ_WRITE : FileChannel.MapMode.READ_ONLY,
        position,
        lengthBytes);
    LIVE.incrementAndGet();
    // Slices keep this buffer alive, so it becomes unreachable only with the last slice.
    CLEANER.register(map, LIVE::decrementAndGet);
    return map.order(ByteOrder.LITTLE_ENDIAN);
  }

  private static synchronized void collect() {
    for (int i = 0; i < COLLECTIONS && LIVE.get() >= budget(); i++) {
      System.gc();
      try {
        Thread.sleep(COLLECTION_WAIT_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private static int kernelLimit() {
    // Read at once: the kernel answers a second read with the end of the file, and Files.readString
    // begins with a single byte.
    try (InputStream file = Files.newInputStream(Path.of("/proc/sys/vm/max_map_count"))) {
      byte[] text = new byte[32];
      int length = file.read(text);
      return Integer.parseInt(new String(text, 0, Math.max(0, length), US_ASCII).strip());
    } catch (IOException | NumberFormatException e) {
      return FALLBACK_LIMIT;
    }
  }
}
