package io.zrecord.internal.store;

import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * The entries and checksums of one field, mapped for reading and writing. The files grow by zeros
 * that are written and forced before they are mapped, so no store to the map can fail for lack of
 * space. One thread at a time changes a table. Readers look at any time, and validate what they saw
 * by {@link LiveState}.
 */
public final class EntryTable implements AutoCloseable {
  private static final int CHECKSUM_BYTES = Integer.BYTES;

  /** Bytes of an entry and its checksum. */
  public static final int STORED_BYTES = Entry.BYTES + CHECKSUM_BYTES;

  private static final String ENTRIES = ".offset";
  private static final String CHECKSUMS = ".crc32c";
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

  /** Returns the names of the files of a table. */
  public static List<String> fileNames(String stem) {
    return List.of(stem + ENTRIES, stem + CHECKSUMS);
  }

  public static EntryTable create(MutableFiles files, String stem) {
    MutableFile entries = files.create(stem + ENTRIES);
    try {
      return new EntryTable(entries, files.create(stem + CHECKSUMS), true);
    } catch (RuntimeException e) {
      entries.close();
      throw e;
    }
  }

  /**
   * Returns a copy of a table's first entries. Entries that change during the copy are copied in
   * any state. Written parts of the copy have their space.
   */
  public static EntryTable copy(MutableFiles source, MutableFiles target, String stem, long count) {
    fileNames(stem).forEach(name -> target.create(name).close());
    return copyTo(source, stem, target, stem, count, () -> {});
  }

  /**
   * Copies to a table whose files are there and empty.
   *
   * @param check runs when a file of the copy is open, before the file is changed; throws if the
   *     name may lead to a file of another writer by then
   */
  public static EntryTable copyTo(
      MutableFiles source,
      String stem,
      MutableFiles target,
      String targetStem,
      long count,
      Runnable check) {
    long entryBytes = count * Entry.BYTES;
    copyFile(source, stem + ENTRIES, target, targetStem + ENTRIES, entryBytes, check);
    long checksumBytes = count * CHECKSUM_BYTES;
    copyFile(source, stem + CHECKSUMS, target, targetStem + CHECKSUMS, checksumBytes, check);
    EntryTable copy = open(target, targetStem, true);
    try {
      check.run();
    } catch (RuntimeException | Error e) {
      Closing.after(e, copy);
      throw e;
    }
    copy.isChanged = true;
    return copy;
  }

  private static void copyFile(
      MutableFiles source,
      String name,
      MutableFiles target,
      String targetName,
      long bytes,
      Runnable check) {
    ByteBuffer block = ByteBuffer.allocateDirect(ZEROS_BYTES);
    try (MutableFile from = source.open(name, false);
        MutableFile to = target.open(targetName, true)) {
      check.run();
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

  public static EntryTable open(MutableFiles files, String stem, boolean writable) {
    List<MutableFile> opened = new ArrayList<>();
    boolean isOpen = false;
    try {
      opened.add(files.open(stem + ENTRIES, writable));
      opened.add(files.open(stem + CHECKSUMS, writable));
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

  /** Returns the full path of the file of the entries. */
  public String path() {
    return entries.path();
  }

  /** Returns the number of entries that there is room for. */
  public long capacity() {
    return capacity;
  }

  /**
   * Makes sure that published entries can be loaded.
   *
   * @throws TruncatedFileException if the files are too short for these entries
   */
  public void requireCapacity(long length) {
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

  /** Maps the growth of the files, made by this process or another. */
  private synchronized void follow() {
    long entryCount =
        Math.min(entries.lengthBytes() / Entry.BYTES, checksums.lengthBytes() / CHECKSUM_BYTES);
    if (entryCount > capacity) {
      map(entryCount);
    }
  }

  /** Makes room for {@code count} entries, as durable zeros. */
  public void ensureCapacity(long count) {
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

  /** Returns the size of the files of a new table with room for {@code count} entries, in bytes. */
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

  /**
   * Maps a larger capacity. Full windows stay; the last window is mapped again with more length.
   */
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

  public long word0(long index) {
    return entryWindows[(int) (index >> WINDOW_BITS)].getLong(place(index) * Entry.BYTES);
  }

  public long word1(long index) {
    return entryWindows[(int) (index >> WINDOW_BITS)].getLong(place(index) * Entry.BYTES + 8);
  }

  /**
   * Loads both words of the entries at the given indices, which must be within the capacity. The
   * loops are so short that their cache misses overlap.
   */
  public void load(long[] indices, int from, int count, long[] word0, long[] word1, int slot) {
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

  public int checksum(long index) {
    return checksumWindows[(int) (index >> WINDOW_BITS)].getInt(place(index) * CHECKSUM_BYTES);
  }

  /** Changes an entry within the capacity. Readers must be kept from the entry meanwhile. */
  public void put(long index, long word0, long word1, int checksum) {
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

  /** Returns the stored bytes of all values. */
  public long valueBytes(long count) {
    long bytes = 0;
    for (long index = 0; index < count; index++) {
      bytes += Entry.physicalLength(word1(index)) & 0xffff_ffffL;
    }
    return bytes;
  }

  /** Reports the chunks of values, most chunks many times. Entries may be damaged. */
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

  public long absentCount(long count) {
    long absent = 0;
    for (long index = 0; index < count; index++) {
      absent += Entry.isAbsent(word0(index), word1(index)) ? 1 : 0;
    }
    return absent;
  }

  /**
   * Makes all changes survive power loss.
   *
   * @throws TruncatedFileException if a file was cut: what was stored beyond its end is lost
   */
  public void force() {
    if (isChanged) {
      if (entries.lengthBytes() < capacity * Entry.BYTES
          || checksums.lengthBytes() < capacity * CHECKSUM_BYTES) {
        throw new TruncatedFileException(
            path(),
            "Cannot force " + path() + ": it or its checksums were cut, to less than the "
                + capacity
                + " entries that were mapped. Restore it from a copy; commits since the last"
                + " checkpoint are in the journal");
      }
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
