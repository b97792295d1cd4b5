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

/**
 * Reads a field of a store. A selection is what the entries said at one moment; its values stay as they were, for bytes in chunks never
 * change. Belongs to one thread.
 */
public final class LiveFieldReader implements FieldReader {
  private static final int SCRATCH_BYTES = 1 << 16;

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
    for (int k = 0; k < newCount; k++) {
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
    if (view.isDue(ordinal, index[k], checksum[k])) {
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
      } else {
        view.window(ordinal, index[k], word0[k], word1[k], 0);
      }
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
    if (!view.isDue(ordinal, index[k], checksum[k])) {
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
    view.setVerified(ordinal, index[k], checksum[k]);
  }

  /** Copies stored bytes from an offset on, across windows if need be. */
  private void copyStored(int k, int offset, byte[] target, int at, int bytes) {
    copyStored(k, offset, ByteBuffer.wrap(target), at, bytes);
  }

  private void copyStored(int k, int offset, ByteBuffer target, int at, int bytes) {
    try {
      try {
        for (int done = 0; done < bytes; ) {
          ByteBuffer window = view.window(ordinal, index[k], word0[k], word1[k], offset + done);
          int within = LiveChunk.within(word0[k] + offset + done);
          int step = Math.min(bytes - done, window.capacity() - within);
          target.put(at + done, window, within, step);
          done += step;
        }
      } finally {
        MapFaults.surface();
      }
    } catch (InternalError e) {
      throw corrupt(k, "cannot be read from the map of its chunk, which was cut", e);
    }
  }

  private CorruptDataException corrupt(
      int k, String reason, @org.jspecify.annotations.Nullable Throwable cause) {
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
      if (view.isDue(ordinal, index[i], checksum[i])) {
        verify(i);
      }
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
    int fixedWidth = spec.valueWidthBytes().orElse(-1);
    int next = at;
    for (int k = 0; k < count; k++) {
      if (fixedWidth > 0 && length[k] == 0) {
        for (int zero = 0; zero < fixedWidth; zero++) {
          target.put(next + zero, (byte) 0);
        }
        next += fixedWidth;
      } else {
        copy(k, target, next);
        next += length[k];
      }
    }
  }

  @Override
  public ByteBuffer view(int i) {
    int bytes = lengthBytes(i);
    if (isRaw && bytes > 0) {
      verify(i);
      ByteBuffer window = view.window(ordinal, index[i], word0[i], word1[i], 0);
      int within = LiveChunk.within(word0[i]);
      if (bytes <= window.capacity() - within) {
        return window.slice(within, bytes).order(ByteOrder.LITTLE_ENDIAN);
      }
    }
    return ByteBuffer.wrap(value(i)).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }
}
