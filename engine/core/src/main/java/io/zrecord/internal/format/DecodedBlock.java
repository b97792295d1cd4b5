package io.zrecord.internal.format;

import io.zrecord.internal.codec.Transforms;
import io.zrecord.internal.codec.ValueCodec;
import java.util.zip.DataFormatException;

/**
 * The values of one block, decoded into memory that is used again for the next block (FORMAT.md
 * section 5). Belongs to one thread.
 */
public final class DecodedBlock {
  /** More than a block of several values takes, with its lengths and before its transform. */
  private static final long MOST_KEPT_BYTES = 1 << 26;

  private byte[] bytes = new byte[0];
  private byte[] plain = new byte[0];
  private int[] ends = new int[0];
  private int first;
  private int width;

  /** Returns the array with the values. The next block may be in another one. */
  public byte[] bytes() {
    return bytes;
  }

  /** Returns the position in {@link #bytes} of the value of a slot of the block. */
  public int start(int slot) {
    return width > 0 ? slot * width : slot == 0 ? first : ends[slot - 1];
  }

  /** Returns the position after the last byte of a value. */
  public int end(int slot) {
    return width > 0 ? slot * width + width : ends[slot];
  }

  /** Tells whether the block takes more memory than should be kept: it is one long value. */
  public boolean isLong() {
    return memoryBytes() > MOST_KEPT_BYTES;
  }

  /** Returns the bytes that the block takes in memory. */
  public long memoryBytes() {
    return bytes.length + (long) plain.length + (long) ends.length * Integer.BYTES;
  }

  /**
   * Decodes a block.
   *
   * @param codec decodes the stored bytes, unless they are as they were
   * @param raw bytes of the block before it was compressed
   * @param flags known flags that the shape allows
   * @throws DataFormatException if the block is damaged
   */
  public void decode(
      ValueCodec codec,
      BlockShape shape,
      byte[] stored,
      int storedBytes,
      int raw,
      int slots,
      int flags)
      throws DataFormatException {
    width = shape.valueWidth();
    int lengths = shape.lengthBytes(slots);
    if (lengths < 0 || lengths > raw) {
      throw new DataFormatException("it has " + slots + " values in " + raw + " bytes");
    }
    bytes = grown(bytes, raw);
    decode(codec, shape, stored, storedBytes, raw, flags, lengths, bytes, 0);
    first = lengths;
    if (!shape.isFixed()) {
      addLengths(raw, slots, flags);
    }
  }

  /** Decodes a block of values of one width into an array. */
  public void decodeInto(
      ValueCodec codec,
      BlockShape shape,
      byte[] stored,
      int storedBytes,
      int raw,
      int flags,
      byte[] target,
      int at)
      throws DataFormatException {
    decode(codec, shape, stored, storedBytes, raw, flags, 0, target, at);
  }

  private void decode(
      ValueCodec codec,
      BlockShape shape,
      byte[] stored,
      int storedBytes,
      int raw,
      int flags,
      int lengths,
      byte[] target,
      int at)
      throws DataFormatException {
    if (BlockShape.isAsIs(flags)) {
      System.arraycopy(stored, 0, target, at, raw);
      return;
    }
    int transformed = flags == 0 ? 0 : raw - lengths;
    if (transformed == 0) {
      codec.decompress(stored, 0, storedBytes, target, at, raw);
      return;
    }
    if (transformed % shape.elementWidth() != 0) {
      throw new DataFormatException("it has " + transformed + " bytes of numbers");
    }
    plain = grown(plain, raw);
    codec.decompress(stored, 0, storedBytes, plain, 0, raw);
    System.arraycopy(plain, 0, target, at, lengths);
    Transforms.restore(shape.elementWidth(), plain, lengths, transformed, target, at + lengths);
    if (BlockShape.transform(flags) == io.zrecord.shard.Transform.DELTA) {
      Transforms.sums(shape.elementWidth(), target, at + lengths, transformed);
    }
  }

  private void addLengths(int raw, int slots, int flags) throws DataFormatException {
    if (ends.length < slots) {
      ends = new int[slots];
    }
    if (slots == 1) {
      ends[0] = raw;
      return;
    }
    int lengths = slots * Integer.BYTES;
    byte[] table = bytes;
    if (!BlockShape.isAsIs(flags)) {
      // The lengths are always transposed.
      plain = grown(plain, lengths);
      Transforms.restore(Integer.BYTES, bytes, 0, lengths, plain, 0);
      table = plain;
    }
    long end = lengths;
    for (int i = 0; i < slots; i++) {
      end += Transforms.unsignedInt(table, i * Integer.BYTES);
      if (end > raw) {
        break;
      }
      ends[i] = (int) end;
    }
    if (end != raw) {
      throw new DataFormatException("its lengths do not add up to its bytes");
    }
  }

  private static byte[] grown(byte[] array, int length) {
    return array.length >= length ? array : new byte[length];
  }
}
