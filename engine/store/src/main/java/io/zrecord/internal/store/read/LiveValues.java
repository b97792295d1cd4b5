package io.zrecord.internal.store.read;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.codec.Decoders;
import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.io.MapFaults;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * Resolves, verifies and copies values of one field of a store, for given slots. Belongs to one
 * thread at a time.
 */
final class LiveValues {
  private static final int SCRATCH_BYTES = 1 << 16;

  /** Largest decoding buffer that is kept. */
  private static final int MAX_KEPT_BYTES = 4 << 20;

  /** Values touched ahead of their copies. */
  private static final int AHEAD = 32;

  /**
   * Longest time for a value in memory, and for each of its bytes. Anything slower waits for
   * something.
   */
  private static final long SLOW_NANOS = 4_000;

  private static final long BYTES_PER_NANO = 1;

  private final SharedValues shared;
  private final int field;
  private final FieldSpec spec;
  private final Binding binding;
  private final boolean isRaw;
  private final boolean readsFiles;
  private final int fixedWidth;
  private final CRC32C crc = new CRC32C();
  private byte[] scratch = new byte[0];
  private byte[] packed = new byte[0];
  private byte[] unpacked = new byte[0];
  private long sink;

  /**
   * Prepares work on a field.
   *
   * @param readsFiles whether values are read from the files instead of maps, which is better for
   *     values outside memory
   */
  LiveValues(SharedValues shared, int field, boolean readsFiles) {
    this.readsFiles = readsFiles;
    this.shared = shared;
    this.field = field;
    this.spec = shared.field(field);
    this.binding = shared.binding(field);
    this.isRaw = spec.compression().codec() == Codec.RAW;
    this.fixedWidth = spec.valueWidthBytes().orElse(-1);
  }

  /**
   * Finds the lengths of the values of slots {@code [from, to)}, and the places of raw values.
   *
   * @return the slot where this stopped because it was slow; a helper never stops
   */
  int resolve(LiveSlots slots, int from, int to) {
    if (isRaw) {
      resolveAll(slots, from, to);
      return to;
    }
    for (int block = from; block < to; block += AHEAD) {
      int end = Math.min(to, block + AHEAD);
      long start = System.nanoTime();
      resolveAll(slots, block, end);
      if (isSlow(slots, block, end, start)) {
        return end;
      }
    }
    return to;
  }

  private boolean isSlow(LiveSlots slots, int from, int to, long start) {
    if (readsFiles) {
      return false;
    }
    long bytes = 0;
    for (int k = from; k < to; k++) {
      bytes += slots.storedBytes(k);
    }
    return System.nanoTime() - start > (to - from) * SLOW_NANOS + bytes / BYTES_PER_NANO;
  }

  private void resolveAll(LiveSlots slots, int from, int to) {
    for (int k = from; k < to; k++) {
      slots.window[k] = null;
      if (slots.isAbsent(k)) {
        slots.length[k] = 0;
        requireAbsent(slots, k);
        continue;
      }
      slots.length[k] = logicalLength(slots, k);
      if (fixedWidth >= 0 && slots.length[k] != fixedWidth) {
        throw corrupt(slots, k, "has " + slots.length[k] + " bytes instead of " + fixedWidth, null);
      }
    }
  }

  private void requireAbsent(LiveSlots slots, int k) {
    if (slots.isDue[k]) {
      finishChecksum(slots, k, 0);
    }
  }

  /**
   * Returns the logical length of a compressed value. The length in its prefix must not be trusted
   * before the value is verified.
   */
  private int logicalLength(LiveSlots slots, int k) {
    int stored = slots.storedBytes(k);
    if (isRaw) {
      if (stored == 0) {
        verify(slots, k);
        return 0;
      }
      ByteBuffer first = window(slots, k, 0);
      int position = LiveChunk.within(slots.word0[k]);
      slots.position[k] = position;
      slots.window[k] = stored <= first.capacity() - position ? first : null;
      if (slots.window[k] == null) {
        hold(slots, k);
      }
      return stored;
    }
    if (stored < ValueCodec.PREFIX_BYTES) {
      throw shared.corruptEntry(field, slots.index[k], slots.word0[k], slots.word1[k]);
    }
    hold(slots, k);
    verify(slots, k);
    int prefix = prefix(slots, k);
    int logical = ValueCodec.logicalLength(prefix);
    int payload = stored - ValueCodec.PREFIX_BYTES;
    if (ValueCodec.isAsIs(prefix)
        ? logical != payload
        : !ValueCodec.isPossible(spec.compression().codec(), payload, logical)) {
      throw corrupt(
          slots,
          k,
          "is stored in " + payload + " bytes, but its length is said to be " + logical
              + ", which cannot be",
          null);
    }
    return logical;
  }

  private ByteBuffer window(LiveSlots slots, int k, int offset) {
    return shared.window(field, slots.index[k], slots.word0[k], slots.word1[k], offset);
  }

  /** Maps all of a value, so that the value can be read after its chunk was deleted. */
  private void hold(LiveSlots slots, int k) {
    int stored = slots.storedBytes(k);
    for (int held = 0; held < stored; ) {
      ByteBuffer part = window(slots, k, held);
      held += Math.min(stored - held, part.capacity() - LiveChunk.within(slots.word0[k] + held));
    }
  }

  private int prefix(LiveSlots slots, int k) {
    byte[] bytes = scratch();
    copyStored(slots, k, 0, ByteBuffer.wrap(bytes), 0, ValueCodec.PREFIX_BYTES);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
  }

  /** Compares the checksum of a value, if the value must be verified. */
  void verify(LiveSlots slots, int k) {
    if (!slots.isDue[k]) {
      return;
    }
    crc.reset();
    byte[] piece = scratch();
    ByteBuffer target = ByteBuffer.wrap(piece);
    int stored = slots.storedBytes(k);
    for (int done = 0; done < stored; ) {
      int step = Math.min(piece.length, stored - done);
      copyStored(slots, k, done, target, 0, step);
      crc.update(piece, 0, step);
      done += step;
    }
    finishChecksum(slots, k, (int) crc.getValue());
  }

  private byte[] scratch() {
    if (scratch.length == 0) {
      scratch = new byte[SCRATCH_BYTES];
    }
    return scratch;
  }

  private void finishChecksum(LiveSlots slots, int k, int crcOfBytes) {
    int found = binding.bindEntry(slots.index[k], slots.word0[k], slots.word1[k], crcOfBytes);
    if (found != slots.checksum[k]) {
      shared.metrics().checksumFailures.increment();
      throw corrupt(
          slots,
          k,
          "has checksum " + Integer.toHexString(found) + ", but "
              + Integer.toHexString(slots.checksum[k]) + " was stored",
          null);
    }
    slots.isDue[k] = shared.setVerified(field, slots.index[k], slots.word0[k], slots.word1[k]);
  }

  /** Copies stored bytes from an offset on, across windows if need be. */
  private void copyStored(
      LiveSlots slots, int k, int offset, ByteBuffer target, int at, int bytes) {
    if (readsFiles) {
      ByteBuffer part = target.duplicate().limit(at + bytes).position(at);
      try {
        shared.read(field, slots.index[k], slots.word0[k], slots.word1[k], offset, part);
        return;
      } catch (MissingFileException e) {
        // Deleted by a rewrite since the selection, and therefore mapped.
      }
    }
    try {
      try {
        for (int done = 0; done < bytes; ) {
          ByteBuffer source = window(slots, k, offset + done);
          int within = LiveChunk.within(slots.word0[k] + offset + done);
          int step = Math.min(bytes - done, source.capacity() - within);
          target.put(at + done, source, within, step);
          done += step;
        }
      } finally {
        MapFaults.surface();
      }
    } catch (InternalError e) {
      throw corrupt(slots, k, "cannot be read from the map of its chunk, which was cut", e);
    }
  }

  CorruptDataException corrupt(LiveSlots slots, int k, String reason, @Nullable Throwable cause) {
    return new CorruptDataException(
        shared.path(field),
        "Cannot read " + shared.path(field) + ": the value at " + slots.index[k] + " of field '"
            + spec.name() + "' " + reason
            + ". Restore the file from a copy, or leave the record out",
        cause);
  }

  /** Copies a present value to a place in the target. */
  void copy(LiveSlots slots, int k, ByteBuffer target, int at) {
    if (slots.length[k] == 0) {
      return;
    }
    if (isRaw) {
      verify(slots, k);
      copyStored(slots, k, 0, target, at, slots.length[k]);
    } else if (ValueCodec.isAsIs(prefix(slots, k))) {
      copyStored(slots, k, ValueCodec.PREFIX_BYTES, target, at, slots.length[k]);
    } else {
      decode(slots, k, target, at);
    }
  }

  private void decode(LiveSlots slots, int k, ByteBuffer target, int at) {
    int packedBytes = slots.storedBytes(k) - ValueCodec.PREFIX_BYTES;
    int bytes = slots.length[k];
    byte[] source = room(packed, packedBytes);
    byte[] decoded = room(unpacked, bytes);
    copyStored(slots, k, ValueCodec.PREFIX_BYTES, ByteBuffer.wrap(source), 0, packedBytes);
    long start = System.nanoTime();
    ValueCodec codec = Decoders.take(spec.compression().codec());
    try {
      codec.decompress(source, 0, packedBytes, decoded, 0, bytes);
    } catch (DataFormatException e) {
      throw corrupt(slots, k, "cannot be decompressed: " + e.getMessage(), e);
    } finally {
      Decoders.giveBack(spec.compression().codec(), codec);
      shared.metrics().decodeNanos.add(System.nanoTime() - start);
    }
    target.put(at, decoded, 0, bytes);
    packed = source.length > MAX_KEPT_BYTES ? packed : source;
    unpacked = decoded.length > MAX_KEPT_BYTES ? unpacked : decoded;
  }

  private static byte[] room(byte[] kept, int bytes) {
    return kept.length >= bytes
        ? kept
        : new byte[Math.max(bytes, Math.min(MAX_KEPT_BYTES, 2 * kept.length))];
  }

  /** Returns the number of bytes that {@link #copyAll} writes for a slot. */
  int copiedBytes(LiveSlots slots, int k) {
    return fixedWidth >= 0 ? fixedWidth : slots.length[k];
  }

  /**
   * Copies the values of slots {@code [from, to)} one after another. Absent values of a fixed width
   * are zeros.
   *
   * @return the slot where this stopped because it was slow; a helper never stops
   */
  int copyAll(LiveSlots slots, int from, int to, ByteBuffer target, int at) {
    try {
      try {
        return copyBlocks(slots, from, to, target, at);
      } finally {
        MapFaults.surface();
      }
    } catch (InternalError e) {
      throw corrupt(
          slots, from, "or another one of the selection cannot be read: a chunk was cut", e);
    }
  }

  private int copyBlocks(LiveSlots slots, int from, int to, ByteBuffer target, int at) {
    int next = at;
    touch(slots, from, Math.min(to, from + AHEAD));
    for (int block = from; block < to; block += AHEAD) {
      int end = Math.min(to, block + AHEAD);
      long start = System.nanoTime();
      touch(slots, end, Math.min(to, end + AHEAD));
      for (int k = block; k < end; k++) {
        next += copyOne(slots, k, target, next);
      }
      if (isSlow(slots, block, end, start)) {
        return end;
      }
    }
    return to;
  }

  /** Copies one value and returns the number of bytes written. */
  private int copyOne(LiveSlots slots, int k, ByteBuffer target, int at) {
    ByteBuffer source = slots.window[k];
    if (source != null && !slots.isDue[k] && !readsFiles) {
      target.put(at, source, slots.position[k], slots.length[k]);
    } else if (slots.length[k] == 0) {
      for (int zero = 0; zero < fixedWidth; zero++) {
        target.put(at + zero, (byte) 0);
      }
    } else {
      copy(slots, k, target, at);
    }
    return copiedBytes(slots, k);
  }

  /**
   * Reads the first byte of values, so that their cache and TLB misses overlap instead of queueing.
   */
  private void touch(LiveSlots slots, int from, int to) {
    if (readsFiles) {
      return;
    }
    long sum = 0;
    for (int k = from; k < to; k++) {
      ByteBuffer source = slots.window[k];
      if (source != null) {
        sum += source.get(slots.position[k]);
      }
    }
    sink += sum;
  }

  /** Returns a value that keeps reads from being optimized away. */
  long sink() {
    return sink;
  }
}
