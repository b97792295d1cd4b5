package io.zrecord.internal.online;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.ValueCodec;
import io.zrecord.internal.io.MapFaults;
import io.zrecord.internal.store.Decoders;
import io.zrecord.scan.FieldReader;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * Reads a field of a store. A selection is what the entries said at one moment; its values stay as they were, for bytes in chunks never
 * change. Belongs to one thread.
 */
public final class LiveFieldReader implements FieldReader {
  private static final int SCRATCH_BYTES = 1 << 16;

  /** Values touched ahead of their copies. */
  private static final int AHEAD = 32;

  private final StoreView view;
  private final int ordinal;
  private final FieldSpec spec;
  private final boolean isRaw;
  private final CRC32C crc = new CRC32C();
  private final byte[] entryBytes = new byte[Entry.BYTES];
  private final ByteBuffer entry = ByteBuffer.wrap(entryBytes).order(ByteOrder.LITTLE_ENDIAN);
  private byte[] scratch = new byte[0];
  private int count;
  private int absentCount;
  private long totalBytes;
  private long[] index = new long[0];
  private long[] word0 = new long[0];
  private long[] word1 = new long[0];
  private int[] checksum = new int[0];
  private int[] length = new int[0];

  /** The window that a whole raw value lies in, verified or not; null if it must be read the long way. */
  private @Nullable ByteBuffer[] window = new ByteBuffer[0];

  private int[] position = new int[0];
  private boolean[] isDue = new boolean[0];
  private long sink;

  LiveFieldReader(StoreView view, int ordinal) {
    this.view = view;
    this.ordinal = ordinal;
    this.spec = view.field(ordinal);
    this.isRaw = spec.compression().codec() == Codec.RAW;
  }

  int ordinal() {
    return ordinal;
  }

  @Override
  public FieldSpec field() {
    return spec;
  }

  void begin(int newCount) {
    count = 0;
    if (index.length < newCount) {
      int capacity = Math.max(newCount, index.length + (index.length >> 1));
      index = new long[capacity];
      word0 = new long[capacity];
      word1 = new long[capacity];
      checksum = new int[capacity];
      length = new int[capacity];
      window = new ByteBuffer[capacity];
      position = new int[capacity];
      isDue = new boolean[capacity];
    }
  }

  void load(EntryTable table, long[] indices, int from, int size, int slot) {
    for (int k = 0; k < size; k++) {
      long wanted = indices[from + k];
      word0[slot + k] = table.word0(wanted);
      word1[slot + k] = table.word1(wanted);
      checksum[slot + k] = table.checksum(wanted);
    }
  }

  /** The selection is made: finds out the lengths. */
  void end(long[] indices, int from, int newCount) {
    System.arraycopy(indices, from, index, 0, newCount);
    int fixedWidth = spec.valueWidthBytes().orElse(-1);
    absentCount = 0;
    totalBytes = 0;
    long storedBytes = 0;
    // A loop of its own, so that the cache misses overlap.
    for (int k = 0; k < newCount; k++) {
      isDue[k] = view.isDue(ordinal, index[k], checksum[k]);
    }
    for (int k = 0; k < newCount; k++) {
      window[k] = null;
      if (Entry.isAbsent(word0[k], word1[k])) {
        absentCount++;
        length[k] = 0;
        requireAbsent(k);
        continue;
      }
      storedBytes += Entry.physicalLength(word1[k]) & 0xffff_ffffL;
      length[k] = logicalLength(k);
      if (fixedWidth >= 0 && length[k] != fixedWidth) {
        throw corrupt(k, "has " + length[k] + " bytes instead of " + fixedWidth, null);
      }
      totalBytes += length[k];
    }
    if (fixedWidth >= 0) {
      totalBytes = (long) newCount * fixedWidth;
    }
    count = newCount;
    view.metrics().values.add(newCount);
    view.metrics().bytesRead.add(storedBytes + newCount * (Entry.BYTES + (long) Integer.BYTES));
    view.metrics().bytesDelivered.add(totalBytes);
  }

  private void requireAbsent(int k) {
    if (isDue[k]) {
      beginChecksum(k);
      finishChecksum(k);
    }
  }

  /** The length in a compressed value's prefix must not be trusted before the value was verified. */
  private int logicalLength(int k) {
    int stored = Entry.physicalLength(word1[k]);
    if (isRaw) {
      if (stored == 0) {
        verify(k);
        return 0;
      }
      ByteBuffer first = view.window(ordinal, index[k], word0[k], word1[k], 0);
      position[k] = LiveChunk.within(word0[k]);
      window[k] = stored <= first.capacity() - position[k] ? first : null;
      return stored;
    }
    if (stored < ValueCodec.PREFIX_BYTES) {
      throw view.corruptEntry(ordinal, index[k], word0[k], word1[k]);
    }
    verify(k);
    int prefix = prefix(k);
    int logical = ValueCodec.logicalLength(prefix);
    if (ValueCodec.isAsIs(prefix) && logical != stored - ValueCodec.PREFIX_BYTES) {
      throw corrupt(
          k,
          "is stored as it is in " + (stored - ValueCodec.PREFIX_BYTES)
              + " bytes, but its length is said to be " + logical,
          null);
    }
    return logical;
  }

  private int prefix(int k) {
    byte[] bytes = new byte[ValueCodec.PREFIX_BYTES];
    copyStored(k, 0, bytes, 0, bytes.length);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
  }

  private void verify(int k) {
    if (!isDue[k]) {
      return;
    }
    beginChecksum(k);
    byte[] piece = scratch();
    int stored = Entry.physicalLength(word1[k]);
    for (int done = 0; done < stored; ) {
      int step = Math.min(piece.length, stored - done);
      copyStored(k, done, piece, 0, step);
      crc.update(piece, 0, step);
      done += step;
    }
    finishChecksum(k);
  }

  private byte[] scratch() {
    if (scratch.length == 0) {
      scratch = new byte[SCRATCH_BYTES];
    }
    return scratch;
  }

  private void beginChecksum(int k) {
    crc.reset();
    entry.putLong(0, word0[k]).putLong(8, word1[k]);
    crc.update(entryBytes, 0, Entry.BYTES);
  }

  private void finishChecksum(int k) {
    int found = (int) crc.getValue();
    if (found != checksum[k]) {
      view.metrics().checksumFailures.increment();
      throw corrupt(
          k,
          "has checksum " + Integer.toHexString(found) + ", but " + Integer.toHexString(checksum[k])
              + " was stored",
          null);
    }
    isDue[k] = view.setVerified(ordinal, index[k], checksum[k]);
  }

  /** Copies stored bytes from an offset on, across windows if need be. */
  private void copyStored(int k, int offset, byte[] target, int at, int bytes) {
    copyStored(k, offset, ByteBuffer.wrap(target), at, bytes);
  }

  private void copyStored(int k, int offset, ByteBuffer target, int at, int bytes) {
    try {
      try {
        for (int done = 0; done < bytes; ) {
          ByteBuffer source = view.window(ordinal, index[k], word0[k], word1[k], offset + done);
          int within = LiveChunk.within(word0[k] + offset + done);
          int step = Math.min(bytes - done, source.capacity() - within);
          target.put(at + done, source, within, step);
          done += step;
        }
      } finally {
        MapFaults.surface();
      }
    } catch (InternalError e) {
      throw corrupt(k, "cannot be read from the map of its chunk, which was cut", e);
    }
  }

  private CorruptDataException corrupt(int k, String reason, @Nullable Throwable cause) {
    return new CorruptDataException(
        view.path(ordinal),
        "Cannot read " + view.path(ordinal) + ": the value at " + index[k] + " of field '"
            + spec.name() + "' " + reason
            + ". Restore the file from a copy, or leave the record out",
        cause);
  }

  @Override
  public int selectRange(long firstIndex, int maxCount, long maxBytes) {
    long[] indices = new long[maxCount];
    for (int k = 0; k < maxCount; k++) {
      indices[k] = firstIndex + k;
    }
    select(indices, 0, maxCount);
    long bytes = 0;
    int taken = 0;
    while (taken < count) {
      bytes += Entry.physicalLength(word1[taken]) & 0xffff_ffffL;
      if (bytes > maxBytes && taken > 0) {
        break;
      }
      taken++;
    }
    if (taken < maxCount) {
      select(indices, 0, taken);
    }
    return taken;
  }

  @Override
  public void select(long[] indices, int from, int newCount) {
    Objects.checkFromIndexSize(from, newCount, indices.length);
    view.select(indices, from, newCount, List.of(this));
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public boolean hasAbsent() {
    return absentCount > 0;
  }

  @Override
  public boolean isAbsent(int i) {
    Objects.checkIndex(i, count);
    return Entry.isAbsent(word0[i], word1[i]);
  }

  @Override
  public int lengthBytes(int i) {
    Objects.checkIndex(i, count);
    return length[i];
  }

  @Override
  public long totalLengthBytes() {
    return totalBytes;
  }

  @Override
  public byte[] value(int i) {
    byte[] value = new byte[lengthBytes(i)];
    copyValue(i, value, 0);
    return value;
  }

  @Override
  public int copyValue(int i, byte[] destination, int offset) {
    Objects.checkFromIndexSize(offset, lengthBytes(i), destination.length);
    copy(i, ByteBuffer.wrap(destination), offset);
    return length[i];
  }

  private void copy(int i, ByteBuffer target, int at) {
    if (length[i] == 0) {
      return;
    }
    if (isRaw) {
      verify(i);
      copyStored(i, 0, target, at, length[i]);
    } else if (ValueCodec.isAsIs(prefix(i))) {
      copyStored(i, ValueCodec.PREFIX_BYTES, target, at, length[i]);
    } else {
      decode(i, target, at);
    }
  }

  private void decode(int i, ByteBuffer target, int at) {
    byte[] packed = new byte[Entry.physicalLength(word1[i]) - ValueCodec.PREFIX_BYTES];
    copyStored(i, ValueCodec.PREFIX_BYTES, packed, 0, packed.length);
    byte[] unpacked = new byte[length[i]];
    long start = System.nanoTime();
    ValueCodec codec = Decoders.take(spec.compression().codec());
    try {
      codec.decompress(packed, 0, packed.length, unpacked, 0, unpacked.length);
    } catch (DataFormatException e) {
      throw corrupt(i, "cannot be decompressed: " + e.getMessage(), e);
    } finally {
      Decoders.giveBack(spec.compression().codec(), codec);
      view.metrics().decodeNanos.add(System.nanoTime() - start);
    }
    target.put(at, unpacked, 0, unpacked.length);
  }

  @Override
  public void copyAll(byte[] destination, int offset) {
    Objects.checkFromIndexSize(offset, totalBytes, (long) destination.length);
    copyAll(ByteBuffer.wrap(destination), offset);
  }

  @Override
  public void copyAll(ByteBuffer destination) {
    if (destination.remaining() < totalBytes) {
      throw new java.nio.BufferOverflowException();
    }
    copyAll(destination, destination.position());
    destination.position(destination.position() + (int) totalBytes);
  }

  private void copyAll(ByteBuffer target, int at) {
    try {
      try {
        copyBlocks(target, at);
      } finally {
        MapFaults.surface();
      }
    } catch (InternalError e) {
      throw corrupt(0, "or another one of the selection cannot be read: a chunk was cut", e);
    }
  }

  private void copyBlocks(ByteBuffer target, int at) {
    int fixedWidth = spec.valueWidthBytes().orElse(0);
    int next = at;
    for (int block = 0; block < count; block += AHEAD) {
      int end = Math.min(count, block + AHEAD);
      touch(block, end);
      for (int k = block; k < end; k++) {
        ByteBuffer source = window[k];
        if (source != null && !isDue[k]) {
          target.put(next, source, position[k], length[k]);
          next += length[k];
        } else if (length[k] == 0) {
          for (int zero = 0; zero < fixedWidth; zero++) {
            target.put(next++, (byte) 0);
          }
        } else {
          copy(k, target, next);
          next += length[k];
        }
      }
    }
  }

  /** Reads the first byte of values, so that their cache and TLB misses overlap instead of queueing. */
  private void touch(int from, int to) {
    long sum = 0;
    for (int k = from; k < to; k++) {
      ByteBuffer source = window[k];
      if (source != null) {
        sum += source.get(position[k]);
      }
    }
    sink += sum;
  }

  /** What keeps reads from being optimized away. */
  long sink() {
    return sink;
  }

  @Override
  public ByteBuffer view(int i) {
    int bytes = lengthBytes(i);
    if (isRaw && bytes > 0) {
      verify(i);
      ByteBuffer source = window[i];
      if (source != null) {
        return source.slice(position[i], bytes).order(ByteOrder.LITTLE_ENDIAN);
      }
    }
    return ByteBuffer.wrap(value(i)).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }
}
