package io.zrecord.internal.online;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Stored bytes of a store at rest, in stripes of records: what their entries point to is read in the order in which it stands in the chunks,
 * neighbours at once, into one buffer. Large values are read piece by piece when they are wanted. Belongs to one thread.
 */
final class RewriteSource implements AutoCloseable {
  /** Larger values are not put into the buffer. */
  static final int PIECE_BYTES = 1 << 20;

  static final int MAX_SLOTS = 1 << 20;
  private static final int SLOT_BITS = 20;

  /** Dead bytes that are cheaper to read than to leave out. */
  private static final int GAP_BYTES = 1 << 14;

  private static final int MAX_OPEN_FILES = 64;

  private final MutableFiles files;
  private final UUID storeId;
  private final Map<Integer, ChunkMeta> chunks = new HashMap<>();

  /** In the order of their last use. */
  private final Map<Integer, MutableFile> openFiles =
      new LinkedHashMap<>(MAX_OPEN_FILES, 0.75f, true);

  private final Map<Integer, Keys> keysOfChunks = new LinkedHashMap<>();
  private final int maxBufferBytes;
  private byte[] buffer = {};
  private int[] places = {};
  private int used;

  /** Slots by position in one chunk: {@code position / 8 << SLOT_BITS | slot}. */
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
   * A source.
   *
   * @param maxBufferBytes memory for a stripe, of which values take half at most, the rest is for gaps between them
   */
  RewriteSource(MutableFiles files, StoreMeta meta, int maxBufferBytes) {
    this.files = files;
    this.storeId = meta.shard().id();
    this.maxBufferBytes = maxBufferBytes;
    meta.shard().chunks().forEach(chunk -> chunks.put(chunk.id(), chunk));
    meta.unfull().forEach(chunk -> chunks.put(chunk.id(), chunk));
  }

  /** Whether the entry of a value that is present can be one. */
  boolean isPossible(long word0, long word1) {
    ChunkMeta chunk = chunks.get(Entry.chunkId(word1));
    int length = Entry.physicalLength(word1);
    return chunk != null
        && length >= 0
        && word0 >= ChunkHeader.BYTES
        && (word0 & 7) == 0
        && word0 <= chunk.endBytes() - length;
  }

  /** Begins a stripe of so many slots, of which none has bytes yet. */
  void begin(int slotCount) {
    if (places.length < slotCount) {
      places = new int[slotCount];
    }
    Arrays.fill(places, 0, slotCount, -1);
    keysOfChunks.clear();
    used = 0;
  }

  /** Wants the bytes of a possible entry in the buffer. All of them together have at most half of it. */
  void want(int slot, long word0, long word1) {
    keysOfChunks.computeIfAbsent(Entry.chunkId(word1), id -> new Keys()).add(word0, slot);
    places[slot] = Entry.physicalLength(word1);
    used += Entry.physicalLength(word1) + 7 & ~7;
  }

  /** Reads what is wanted. */
  void load() {
    int wantedBytes = used;
    if (buffer.length < wantedBytes || buffer.length < Math.min(maxBufferBytes, 2 * wantedBytes)) {
      buffer = new byte[Math.max(wantedBytes, Math.min(maxBufferBytes, 2 * wantedBytes))];
    }
    int gapBytes = buffer.length - wantedBytes;
    used = 0;
    for (Map.Entry<Integer, Keys> chunk : keysOfChunks.entrySet()) {
      gapBytes = load(chunk.getKey(), chunk.getValue(), gapBytes);
    }
  }

  /** Returns how much may still be read that is not wanted. */
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

  /** Where the bytes of a slot begin in {@link #buffer}; −1 if they were not wanted. */
  int place(int slot) {
    return places[slot];
  }

  /** The bytes of the stripe; valid until the next one. */
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

  /** The exception for an entry or a value that is damaged. */
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
