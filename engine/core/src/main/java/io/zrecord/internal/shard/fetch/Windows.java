package io.zrecord.internal.shard.fetch;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.read.ReadMetrics;
import io.zrecord.storage.ReadableFile;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * The bytes of a file up to its published end, in windows that are mapped, or read, at first use
 * and then kept. A window has at most 1 GiB, so that positions in it are ints. Windows of values
 * that take memory are kept in a {@link RegionCache} instead. Thread-safe; no lock is held over a
 * request.
 */
public final class Windows {
  /** 16 PiB in windows of 1 GiB: what is longer has holes. */
  private static final int MOST_WINDOWS = 1 << 24;

  /**
   * Most bytes of a window that is kept though it takes memory. A reader that needs a few entries
   * of a long table waits about one extra round trip.
   */
  private static final int MOST_KEPT_BYTES = 4 << 20;

  /**
   * Most bytes of a file of values that is kept whole though it takes memory. One request for the
   * file costs less than two for parts of it.
   */
  private static final int MOST_SMALL_BYTES = 256 << 10;

  private static final ReadMetrics UNCOUNTED = new ReadMetrics();

  private final ReadableFile file;
  private final long endBytes;
  private final int shift;
  private final AtomicReferenceArray<ByteBuffer> windows;
  private final Map<Integer, FirstUse<ByteBuffer>> requests = new ConcurrentHashMap<>();
  private final Consumer<ByteBuffer> firstCheck;
  private final LongConsumer onKept;
  private final boolean areKept;
  private final AtomicBoolean isSmallAsked = new AtomicBoolean();

  /** Maps nothing yet. Keeps all windows, as is right for tables. */
  public Windows(ReadableFile file, long endBytes, LongConsumer onKept) {
    this(file, endBytes, true, first -> {}, onKept);
  }

  /**
   * Maps nothing yet.
   *
   * @param endBytes published end
   * @param areKept whether windows are kept though they take memory; those of small files always
   *     are
   * @param firstCheck is given the first window once that is mapped; what the check throws, the
   *     user of the window gets
   * @param onKept called for each window that is kept, with its bytes on the heap: 0 if mapped
   * @throws TruncatedFileException if the file is shorter than its published end
   * @throws CorruptDataException if the file is too long to be one that was written
   */
  public Windows(
      ReadableFile file,
      long endBytes,
      boolean areKept,
      Consumer<ByteBuffer> firstCheck,
      LongConsumer onKept) {
    if (file.lengthBytes() < endBytes) {
      throw new TruncatedFileException(
          file.path(),
          "Cannot read " + file.path() + ": it has " + file.lengthBytes() + " bytes, but "
              + endBytes + " were published. It was cut; restore it from a copy");
    }
    this.file = file;
    this.endBytes = endBytes;
    int regionBytes = areKept && !file.isMapped()
        ? Math.min(file.preferredRegionBytes(), MOST_KEPT_BYTES)
        : file.preferredRegionBytes();
    this.shift = Integer.numberOfTrailingZeros(regionBytes);
    long count = ((endBytes - 1) >> shift) + 1;
    if (count > MOST_WINDOWS) {
      throw new CorruptDataException(
          file.path(),
          "Cannot read " + file.path() + ": it has " + endBytes
              + " bytes, more than any file with values");
    }
    this.windows = new AtomicReferenceArray<>((int) count);
    this.firstCheck = firstCheck;
    this.onKept = onKept;
    this.areKept = areKept || file.isMapped() || endBytes <= MOST_SMALL_BYTES;
  }

  /** Tells whether each window is kept, so that keeping it elsewhere takes no more memory. */
  public boolean areKept() {
    return areKept;
  }

  /** Tells whether the file is one window, which takes memory and is kept. */
  public boolean isSmall() {
    return areKept && !file.isMapped() && count() == 1;
  }

  /** Tells whether the window of a small file is kept already. */
  public boolean isHere() {
    return windows.getAcquire(0) != null;
  }

  /**
   * Asks for the window of a small file, and returns at once. Does nothing if the window is here or
   * was asked for. A failure surfaces when a reader needs the window.
   */
  public void askForSmall(ReadMetrics metrics) {
    if (!isHere() && isSmallAsked.compareAndSet(false, true)) {
      CompletableFuture<Void> unused = Requests.later(() -> window(0, 0, metrics))
          .handle((window, failure) -> {
            isSmallAsked.set(false);
            return null;
          });
    }
  }

  /** Tells whether the file is mapped, so that bytes verified once are those read later. */
  public boolean isMapped() {
    return file.isMapped();
  }

  /** Returns the full path of the file. */
  public String path() {
    return file.path();
  }

  public long endBytes() {
    return endBytes;
  }

  public int count() {
    return windows.length();
  }

  /** Returns the ordinal of the window that contains a position. */
  public int ordinal(long position) {
    return (int) (position >>> shift);
  }

  /** Returns a position's offset in its window. */
  public int within(long position) {
    return (int) position & ((1 << shift) - 1);
  }

  public ByteBuffer window(int ordinal) {
    ByteBuffer window = windows.getAcquire(ordinal);
    if (window != null) {
      return window;
    }
    return areKept ? keep(ordinal, UNCOUNTED) : cached(ordinal, 0, UNCOUNTED);
  }

  /**
   * Returns a window, and asks for the windows after it before they are needed.
   *
   * @param aheadBytes position before which bytes will be read in order; 0 if that is not known
   * @param metrics where requests are counted
   */
  public ByteBuffer window(int ordinal, long aheadBytes, ReadMetrics metrics) {
    ByteBuffer window = windows.getAcquire(ordinal);
    if (window != null) {
      return window;
    }
    return areKept ? keep(ordinal, metrics) : cached(ordinal, aheadBytes, metrics);
  }

  private ByteBuffer cached(int ordinal, long aheadBytes, ReadMetrics metrics) {
    RegionCache cache = RegionCache.shared();
    if (aheadBytes > 0) {
      int end = ordinal(Math.min(aheadBytes, endBytes) - 1) + 1;
      cache.readAhead(this, ordinal, end, number -> read(number, metrics));
    }
    return cache.get(this, ordinal, () -> read(ordinal, metrics), metrics);
  }

  private ByteBuffer read(int ordinal, ReadMetrics metrics) {
    if (!file.isMapped()) {
      metrics.requests.increment();
      metrics.bytesRequested.add(lengthBytes(ordinal));
    }
    return read(ordinal);
  }

  /** Returns the long at a position, a multiple of 8. */
  public long longAt(long position) {
    return window(ordinal(position)).getLong(within(position));
  }

  /** Returns the int at a position, a multiple of 4. */
  public int intAt(long position) {
    return window(ordinal(position)).getInt(within(position));
  }

  /** Copies bytes into an array, across windows if need be. */
  public void copy(long position, byte[] target, int offset, int length) {
    int done = 0;
    while (done < length) {
      ByteBuffer window = window(ordinal(position + done));
      int at = within(position + done);
      int step = Math.min(length - done, window.capacity() - at);
      window.get(at, target, offset + done, step);
      done += step;
    }
  }

  private ByteBuffer keep(int ordinal, ReadMetrics metrics) {
    FirstUse<ByteBuffer> use = requests.computeIfAbsent(ordinal, number -> new FirstUse<>());
    ByteBuffer window = use.get(() -> read(ordinal, metrics));
    if (windows.compareAndSet(ordinal, null, window)) {
      onKept.accept(file.isMapped() ? 0 : window.capacity());
    }
    requests.remove(ordinal, use);
    return windows.getAcquire(ordinal);
  }

  /**
   * Reads bytes that are not kept here.
   *
   * @throws TruncatedFileException if the file has become shorter
   */
  public ByteBuffer read(long position, int lengthBytes) {
    return file.region(position, lengthBytes);
  }

  private ByteBuffer read(int ordinal) {
    ByteBuffer window = file.region((long) ordinal << shift, lengthBytes(ordinal));
    if (ordinal == 0) {
      firstCheck.accept(window);
    }
    return window;
  }

  int lengthBytes(int ordinal) {
    return (int) Math.min(1L << shift, endBytes - ((long) ordinal << shift));
  }
}
