package io.zrecord.internal.online;

import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.Closing;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * The entries and checksums of one field, mapped for reading and writing. The files grow by zeros that are written and forced
 * before they are mapped, so that no store to the map can fail for want of space. One thread changes it at a time; readers look
 * at any time and validate by {@link LiveState} what they saw.
 */
final class EntryTable implements AutoCloseable {
  private static final int CHECKSUM_BYTES = Integer.BYTES;

  /** Bytes of an entry with its checksum. */
  static final int STORED_BYTES = Entry.BYTES + CHECKSUM_BYTES;

  private static final int WINDOW_BITS = 22;
  private static final long WINDOW_ENTRIES = 1L << WINDOW_BITS;
  private static final long MIN_GROWTH_ENTRIES = 1L << 12;
  private static final long MAX_GROWTH_ENTRIES = 1L << 20;
  private static final int ZEROS_BYTES = 1 << 20;

  private final MutableFile entries;
  private final MutableFile checksums;
  private final boolean writable;
  private volatile ByteBuffer[] entryWindows = new ByteBuffer[0];
  private volatile ByteBuffer[] checksumWindows = new ByteBuffer[0];
  private volatile long capacity;
  private boolean isChanged;

  private EntryTable(MutableFile entries, MutableFile checksums, boolean writable) {
    this.entries = entries;
    this.checksums = checksums;
    this.writable = writable;
  }

  static EntryTable create(MutableFiles files, String stem) {
    MutableFile entries = files.create(stem + ".offset");
    try {
      return new EntryTable(entries, files.create(stem + ".crc32c"), true);
    } catch (RuntimeException e) {
      entries.close();
      throw e;
    }
  }

  /** A copy of the first entries of a table, as they happen to be while they change: what is written has its space. */
  static EntryTable copy(MutableFiles source, MutableFiles target, String stem, long count) {
    copyFile(source, target, stem + ".offset", count * Entry.BYTES);
    copyFile(source, target, stem + ".crc32c", count * CHECKSUM_BYTES);
    return open(target, stem, true);
  }

  private static void copyFile(MutableFiles source, MutableFiles target, String name, long bytes) {
    ByteBuffer block = ByteBuffer.allocateDirect(ZEROS_BYTES);
    try (MutableFile from = source.open(name, false);
        MutableFile to = target.create(name)) {
      for (long at = 0; at < bytes; ) {
        int step = from.read(at, block.clear().limit((int) Math.min(ZEROS_BYTES, bytes - at)));
        if (step == 0) {
          throw new TruncatedFileException(
              from.path(),
              "Cannot read " + from.path() + ": it has " + at + " bytes, but " + bytes
                  + " were published. It was cut; restore it from a copy");
        }
        to.write(at, block.flip());
        at += step;
      }
    }
  }

  static EntryTable open(MutableFiles files, String stem, boolean writable) {
    List<MutableFile> opened = new ArrayList<>();
    boolean isOpen = false;
    try {
      opened.add(files.open(stem + ".offset", writable));
      opened.add(files.open(stem + ".crc32c", writable));
      EntryTable table = new EntryTable(opened.get(0), opened.get(1), writable);
      table.follow();
      isOpen = true;
      return table;
    } finally {
      if (!isOpen) {
        Closing.all(opened);
      }
    }
  }

  static void delete(MutableFiles files, String stem) {
    files.delete(stem + ".offset");
    files.delete(stem + ".crc32c");
  }

  /** Full path of the file of the entries. */
  String path() {
    return entries.path();
  }

  /** Entries that there is room for. */
  long capacity() {
    return capacity;
  }

  /**
   * Makes sure that entries which were published can be loaded.
   *
   * @throws TruncatedFileException if the files are too short for them
   */
  void requireCapacity(long length) {
    if (length > capacity) {
      follow();
      if (length > capacity) {
        throw new TruncatedFileException(
            path(),
            "Cannot read " + path() + ": it or its checksums have room for " + capacity
                + " entries, but " + length
                + " were published. It was cut; restore it from a copy");
      }
    }
  }

  /** Maps what the files have become, by this process or another. */
  private synchronized void follow() {
    long entryCount =
        Math.min(entries.lengthBytes() / Entry.BYTES, checksums.lengthBytes() / CHECKSUM_BYTES);
    if (entryCount > capacity) {
      map(entryCount);
    }
  }

  /** Makes room for {@code count} entries, zeros that are durable. */
  void ensureCapacity(long count) {
    if (count <= capacity) {
      return;
    }
    long grown = grown(capacity, count);
    appendZeros(entries, grown * Entry.BYTES);
    appendZeros(checksums, grown * CHECKSUM_BYTES);
    entries.force();
    checksums.force();
    synchronized (this) {
      map(grown);
    }
  }

  private static long grown(long capacity, long count) {
    long step = Math.max(MIN_GROWTH_ENTRIES, Math.min(MAX_GROWTH_ENTRIES, capacity));
    return Math.max(capacity + step, (count + step - 1) / step * step);
  }

  /** Bytes that the files of a new table take which has room for {@code count} entries. */
  static long bytesFor(long count) {
    return count == 0 ? 0 : grown(0, count) * STORED_BYTES;
  }

  private static void appendZeros(MutableFile file, long newLengthBytes) {
    ByteBuffer zeros = ByteBuffer.allocateDirect(ZEROS_BYTES);
    for (long at = file.lengthBytes(); at < newLengthBytes; ) {
      int step = (int) Math.min(ZEROS_BYTES, newLengthBytes - at);
      file.write(at, zeros.clear().limit(step));
      at += step;
    }
  }

  /** Windows that are full stay; the last one is mapped again, longer. */
  private void map(long newCapacity) {
    int count = Math.toIntExact((newCapacity + WINDOW_ENTRIES - 1) >> WINDOW_BITS);
    ByteBuffer[] newEntries = java.util.Arrays.copyOf(entryWindows, count);
    ByteBuffer[] newChecksums = java.util.Arrays.copyOf(checksumWindows, count);
    for (int w = (int) (capacity >> WINDOW_BITS); w < count; w++) {
      long first = w * WINDOW_ENTRIES;
      int length = (int) Math.min(WINDOW_ENTRIES, newCapacity - first);
      newEntries[w] = entries.map(first * Entry.BYTES, length * Entry.BYTES, writable);
      newChecksums[w] = checksums.map(first * CHECKSUM_BYTES, length * CHECKSUM_BYTES, writable);
    }
    entryWindows = newEntries;
    checksumWindows = newChecksums;
    capacity = newCapacity;
  }

  long word0(long index) {
    return entryWindows[(int) (index >> WINDOW_BITS)].getLong(place(index) * Entry.BYTES);
  }

  long word1(long index) {
    return entryWindows[(int) (index >> WINDOW_BITS)].getLong(place(index) * Entry.BYTES + 8);
  }

  /** Loads both words of the entries at some indices, which there is room for, in loops so short that their cache misses overlap. */
  void load(long[] indices, int from, int count, long[] word0, long[] word1, int slot) {
    ByteBuffer[] windows = entryWindows;
    for (int k = 0; k < count; k++) {
      long index = indices[from + k];
      word0[slot + k] = windows[(int) (index >> WINDOW_BITS)].getLong(place(index) * Entry.BYTES);
    }
    for (int k = 0; k < count; k++) {
      long index = indices[from + k];
      word1[slot + k] =
          windows[(int) (index >> WINDOW_BITS)].getLong(place(index) * Entry.BYTES + Long.BYTES);
    }
  }

  int checksum(long index) {
    return checksumWindows[(int) (index >> WINDOW_BITS)].getInt(place(index) * CHECKSUM_BYTES);
  }

  /** Changes an entry that there is room for. Readers must be kept from it. */
  void put(long index, long word0, long word1, int checksum) {
    isChanged = true;
    int window = (int) (index >> WINDOW_BITS);
    int place = place(index);
    entryWindows[window]
        .putLong(place * Entry.BYTES, word0)
        .putLong(place * Entry.BYTES + 8, word1);
    checksumWindows[window].putInt(place * CHECKSUM_BYTES, checksum);
  }

  private static int place(long index) {
    return (int) (index & (WINDOW_ENTRIES - 1));
  }

  /** Cuts what lies behind the entries in use. Nothing may be loaded from there any more. */
  void trim(long count) {
    entries.setLength(count * Entry.BYTES);
    checksums.setLength(count * CHECKSUM_BYTES);
    isChanged = true;
  }

  /** Stored bytes of all values. */
  long valueBytes(long count) {
    long bytes = 0;
    for (long index = 0; index < count; index++) {
      bytes += Entry.physicalLength(word1(index)) & 0xffff_ffffL;
    }
    return bytes;
  }

  /** Gives the chunks that values lie in, most of them many times; entries may be damaged. */
  void forEachChunk(long count, IntConsumer listener) {
    int last = -1;
    for (long index = 0; index < count; index++) {
      long word1 = word1(index);
      int chunk = Entry.chunkId(word1);
      if (chunk != last && !Entry.isAbsent(word0(index), word1)) {
        listener.accept(chunk);
        last = chunk;
      }
    }
  }

  long absentCount(long count) {
    long absent = 0;
    for (long index = 0; index < count; index++) {
      absent += Entry.isAbsent(word0(index), word1(index)) ? 1 : 0;
    }
    return absent;
  }

  /** Makes all changes survive power loss. */
  void force() {
    if (isChanged) {
      entries.force();
      checksums.force();
      isChanged = false;
    }
  }

  @Override
  public void close() {
    entries.close();
    checksums.close();
  }
}
