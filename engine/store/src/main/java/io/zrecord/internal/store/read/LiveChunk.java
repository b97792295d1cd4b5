package io.zrecord.internal.store.read;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * A chunk file as readers see it: windows of up to 1 GiB, mapped at first use. If a value lies
 * after the mapped part of a growing file, the file is mapped again with more length; earlier
 * windows stay valid. Holds no descriptor. Thread-safe.
 */
final class LiveChunk {
  private static final int WINDOW_BITS = 30;

  /** Twice the largest chunk; an int can count its windows. */
  private static final long MAX_POSITION = 1L << 41;

  private static final int MAP_ATTEMPTS = 3;

  private final MutableFiles files;
  private final String name;
  private volatile ByteBuffer[] windows = new ByteBuffer[0];

  private LiveChunk(MutableFiles files, String name) {
    this.files = files;
    this.name = name;
  }

  /**
   * Opens a chunk and checks its header.
   *
   * @throws io.zrecord.errors.MissingFileException if there is no file
   * @throws io.zrecord.errors.CorruptDataException if the chunk belongs to another store
   */
  static LiveChunk open(MutableFiles files, UUID storeId, int chunkId) {
    LiveChunk chunk = new LiveChunk(files, ChunkMeta.fileName(chunkId));
    byte[] header = new byte[ChunkHeader.BYTES];
    try (MutableFile file = files.open(chunk.name, false)) {
      file.read(0, ByteBuffer.wrap(header));
    }
    new ChunkHeader(chunkId, storeId).check(chunk.path(), header);
    return chunk;
  }

  String path() {
    return files.pathOf(name);
  }

  /**
   * Returns the window of a position. The window reaches at least to {@code position + lengthBytes}
   * or to its own end. Null if there are no such bytes.
   */
  @org.jspecify.annotations.Nullable
  ByteBuffer window(long position, int lengthBytes) {
    if (position > MAX_POSITION) {
      return null;
    }
    int ordinal = (int) (position >>> WINDOW_BITS);
    long end = Math.min(position + lengthBytes, (ordinal + 1L) << WINDOW_BITS);
    ByteBuffer[] current = windows;
    if (ordinal < current.length && covers(current[ordinal], ordinal, end)) {
      return current[ordinal];
    }
    return remap(ordinal, end);
  }

  /**
   * Fills the target by reading the file. Used for bytes that are not in memory: a fault of a map
   * reads 128 KiB around them.
   *
   * @return whether there were enough bytes
   */
  boolean read(long position, ByteBuffer target) {
    try (MutableFile file = files.open(name, false)) {
      int wanted = target.remaining();
      return file.read(position, target) == wanted;
    }
  }

  /** Returns a position's offset in its window. */
  static int within(long position) {
    return (int) position & ((1 << WINDOW_BITS) - 1);
  }

  private static boolean covers(
      @org.jspecify.annotations.Nullable ByteBuffer window, int ordinal, long end) {
    return window != null && end - ((long) ordinal << WINDOW_BITS) <= window.capacity();
  }

  private synchronized @org.jspecify.annotations.Nullable ByteBuffer remap(int ordinal, long end) {
    ByteBuffer[] current = windows;
    if (ordinal < current.length && covers(current[ordinal], ordinal, end)) {
      return current[ordinal];
    }
    try (MutableFile file = files.open(name, false)) {
      ByteBuffer window = map(file, (long) ordinal << WINDOW_BITS, end);
      if (window != null) {
        ByteBuffer[] grown =
            java.util.Arrays.copyOf(current, Math.max(current.length, ordinal + 1));
        grown[ordinal] = window;
        windows = grown;
      }
      return window;
    }
  }

  /**
   * Maps a window; null if the file is too short. A writer that closes a chunk cuts the file to its
   * end, perhaps just after its length was looked at.
   */
  private static @org.jspecify.annotations.Nullable ByteBuffer map(
      MutableFile file, long start, long end) {
    for (int attempt = 1; ; attempt++) {
      long length = file.lengthBytes();
      if (length < end) {
        return null;
      }
      try {
        return file.map(start, (int) Math.min(1L << WINDOW_BITS, length - start), false);
      } catch (ZRecordException e) {
        if (attempt == MAP_ATTEMPTS || file.lengthBytes() == length) {
          throw e;
        }
      }
    }
  }
}
