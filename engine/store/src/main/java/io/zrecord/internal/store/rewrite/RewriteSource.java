package io.zrecord.internal.store.rewrite;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.EntryTable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Reads stored bytes of a store at rest, in stripes of records. Values of a stripe are read into
 * one buffer, in the order in which they lie in the chunks, neighbours at once. Large values are
 * read piece by piece on demand. Belongs to one thread.
 */
final class RewriteSource implements AutoCloseable {
  /** Largest value that goes into the buffer. */
  static final int PIECE_BYTES = 1 << 20;

  static final int MAX_SLOTS = 1 << 20;
  private static final int SLOT_BITS = 20;

  /** Longest gap of dead bytes that is cheaper to read than to leave out. */
  private static final int GAP_BYTES = 1 << 14;

  private static final int MAX_OPEN_FILES = 64;

  private final MutableFiles files;
  private final UUID storeId;
  private final Map<Integer, ChunkMeta> chunks = new HashMap<>();

  /** Open files, in the order of their last use. */
  private final Map<Integer, MutableFile> openFiles =
      new LinkedHashMap<>(MAX_OPEN_FILES, 0.75f, true);

  private final Map<Integer, Keys> keysOfChunks = new LinkedHashMap<>();
  private final int maxBufferBytes;
  private byte[] buffer = {};
  private int[] places = {};
  private int used;

  /** Slots to sort by position in one chunk: {@code position / 8 << SLOT_BITS | slot}. */
  private static final class Keys {
    private long[] keys = new long[16];
    private int count;

    void add(long position, int slot) {
      if (count == keys.length) {
        keys = Arrays.copyOf(keys, 2 * count);
      }
      keys[count++] = position >>> 3 << SLOT_BITS | slot;
    }
  }

  /**
   * Creates a source.
   *
   * @param maxBufferBytes memory for a stripe; values take at most half, and the rest is for gaps
   *     between them
   */
  RewriteSource(MutableFiles files, StoreMeta meta, int maxBufferBytes) {
    this.files = files;
    this.storeId = meta.shard().id();
    this.maxBufferBytes = maxBufferBytes;
    meta.shard().chunks().forEach(chunk -> chunks.put(chunk.id(), chunk));
    meta.unfull().forEach(chunk -> chunks.put(chunk.id(), chunk));
  }

  /** Tells whether the entry of a present value is possible. */
  boolean isPossible(long word0, long word1) {
    ChunkMeta chunk = chunks.get(Entry.chunkId(word1));
    int length = Entry.physicalLength(word1);
    return chunk != null
        && length >= 0
        && word0 >= ChunkHeader.BYTES
        && (word0 & 7) == 0
        && word0 <= chunk.endBytes() - length;
  }

  /** Begins a stripe of {@code slotCount} slots, none of which has bytes yet. */
  void begin(int slotCount) {
    if (places.length < slotCount) {
      places = new int[slotCount];
    }
    Arrays.fill(places, 0, slotCount, -1);
    keysOfChunks.clear();
    used = 0;
  }

  /**
   * Requests the bytes of a possible entry for the buffer. All requests together have at most half
   * of the buffer.
   */
  void want(int slot, long word0, long word1) {
    keysOfChunks.computeIfAbsent(Entry.chunkId(word1), id -> new Keys()).add(word0, slot);
    places[slot] = Entry.physicalLength(word1);
    used += Entry.physicalLength(word1) + 7 & ~7;
  }

  /** Reads the requested bytes. */
  void load() {
    int wantedBytes = used;
    if (buffer.length < wantedBytes || buffer.length < Math.min(maxBufferBytes, 2 * wantedBytes)) {
      // The shorter array may go before the longer one exists.
      buffer = new byte[0];
      buffer = new byte[Math.max(wantedBytes, Math.min(maxBufferBytes, 2 * wantedBytes))];
    }
    int gapBytes = buffer.length - wantedBytes;
    used = 0;
    for (Map.Entry<Integer, Keys> chunk : keysOfChunks.entrySet()) {
      gapBytes = load(chunk.getKey(), chunk.getValue(), gapBytes);
    }
  }

  /** Reads from one chunk, and returns how many unrequested bytes may still be read. */
  private int load(int chunkId, Keys keys, int gapBytes) {
    Arrays.sort(keys.keys, 0, keys.count);
    int gapsLeft = gapBytes;
    long start = 0;
    long end = 0;
    for (int k = 0; k < keys.count; k++) {
      long position = keys.keys[k] >>> SLOT_BITS << 3;
      int slot = (int) keys.keys[k] & (MAX_SLOTS - 1);
      long gap = Math.max(0, position - end);
      if (k == 0 || gap > Math.min(GAP_BYTES, gapsLeft)) {
        readExtent(chunkId, start, end);
        start = position;
        end = position;
      } else {
        gapsLeft -= (int) gap;
      }
      int length = places[slot];
      places[slot] = used + (int) (position - start);
      end = Math.max(end, position + length + 7 & ~7L);
    }
    readExtent(chunkId, start, end);
    return gapsLeft;
  }

  private void readExtent(int chunkId, long start, long end) {
    // The last value of a chunk may have no padding.
    long last = Math.min(end, chunkEnd(chunkId));
    for (long at = start; at < last; ) {
      int step = (int) Math.min(PIECE_BYTES, last - at);
      read(chunkId, at, buffer, used + (int) (at - start), step);
      at += step;
    }
    used += (int) (end - start);
  }

  private long chunkEnd(int chunkId) {
    ChunkMeta chunk = chunks.get(chunkId);
    return chunk == null ? 0 : chunk.endBytes();
  }

  /** Returns where the bytes of a slot begin in {@link #buffer}; −1 if they were not requested. */
  int place(int slot) {
    return places[slot];
  }

  /** Returns the bytes of the stripe; valid until the next one. */
  byte[] buffer() {
    return buffer;
  }

  /** Reads bytes of a chunk. */
  void read(int chunkId, long position, byte[] target, int at, int length) {
    MutableFile file = open(chunkId);
    int found = file.read(position, ByteBuffer.wrap(target, at, length));
    if (found != length) {
      throw new TruncatedFileException(
          file.path(),
          "Cannot read " + file.path() + ": it ends at byte " + (position + found)
              + ", but values stand behind. It was cut; restore it from a copy");
    }
  }

  private MutableFile open(int chunkId) {
    MutableFile known = openFiles.get(chunkId);
    if (known != null) {
      return known;
    }
    if (openFiles.size() >= MAX_OPEN_FILES) {
      Iterator<MutableFile> oldest = openFiles.values().iterator();
      oldest.next().close();
      oldest.remove();
    }
    MutableFile file = files.open(ChunkMeta.fileName(chunkId), false);
    openFiles.put(chunkId, file);
    byte[] header = new byte[ChunkHeader.BYTES];
    file.read(0, ByteBuffer.wrap(header));
    new ChunkHeader(chunkId, storeId).check(file.path(), header);
    return file;
  }

  /** Returns the exception for a damaged entry or value. */
  static CorruptDataException corrupt(EntryTable table, String field, long index, String reason) {
    return new CorruptDataException(
        table.path(),
        "Cannot rewrite " + table.path() + ": the value at " + index + " of field '" + field + "' "
            + reason
            + ". The store stays as it is; repair it first, or restore the file from a copy");
  }

  @Override
  public void close() {
    openFiles.values().forEach(MutableFile::close);
    openFiles.clear();
  }
}
