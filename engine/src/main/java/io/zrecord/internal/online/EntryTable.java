package io.zrecord.internal.online;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;

/**
 * The entries and checksums of one field, mapped for reading and writing. The files grow by zeros that are written and forced
 * before they are mapped, so that no store to the map can fail for want of space. One thread changes it at a time; readers look
 * at any time and validate by {@link LiveState} what they saw.
 */
final class EntryTable implements AutoCloseable {
  private static final int CHECKSUM_BYTES = Integer.BYTES;
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
    return new EntryTable(entries, files.create(stem + ".crc32c"), true);
  }

  static EntryTable open(MutableFiles files, String stem, boolean writable) {
    MutableFile entries = files.open(stem + ".offset", writable);
    EntryTable table = new EntryTable(entries, files.open(stem + ".crc32c", writable), writable);
    table.follow();
    return table;
  }

  /** Full path of the file of the entries. */
  String path() {
    return entries.path();
  }

  /** Entries that there is room for. */
  long capacity() {
    return capacity;
  }

  /** Maps what the files have become, by this process or another. */
  synchronized void follow() {
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
    long step = Math.max(MIN_GROWTH_ENTRIES, Math.min(MAX_GROWTH_ENTRIES, capacity));
    long grown = Math.max(capacity + step, (count + step - 1) / step * step);
    appendZeros(entries, grown * Entry.BYTES);
    appendZeros(checksums, grown * CHECKSUM_BYTES);
    entries.force();
    checksums.force();
    synchronized (this) {
      map(grown);
    }
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
