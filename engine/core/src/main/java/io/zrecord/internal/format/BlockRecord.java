package io.zrecord.internal.format;

import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.schema.Codec;
import java.nio.ByteBuffer;

/**
 * What the section {@code offsets} says of one block (FORMAT.md section 5).
 *
 * @param firstSlot slot of the first value
 * @param position of the stored bytes in the chunk
 * @param storedBytes bytes in the chunk
 * @param rawBytes bytes before they were compressed
 * @param slots number of values, absent ones included
 * @param flags how the block was encoded
 * @param checksum bound checksum of the stored bytes
 * @param reserved zero, unless a later release wrote the record
 */
public record BlockRecord(
    long firstSlot,
    long position,
    int storedBytes,
    int rawBytes,
    int slots,
    int flags,
    int checksum,
    int reserved) {
  /** The longest array that every virtual machine can have. */
  private static final int MOST_BYTES = Integer.MAX_VALUE - 8;

  /** Reads the record at a position of a little-endian buffer. */
  public static BlockRecord read(ByteBuffer in, int at) {
    return new BlockRecord(
        in.getLong(at),
        in.getLong(at + BlockUnits.POSITION_AT),
        in.getInt(at + BlockUnits.STORED_AT),
        in.getInt(at + BlockUnits.RAW_AT),
        in.getInt(at + BlockUnits.SLOTS_AT),
        in.getInt(at + BlockUnits.FLAGS_AT),
        in.getInt(at + BlockUnits.CHECKSUM_AT),
        in.getInt(at + BlockUnits.ZERO_AT));
  }

  /** Tells whether the record has something that this release does not know. */
  public boolean isUnknown() {
    return BlockShape.isUnknown(flags) || reserved != 0;
  }

  /** Returns the slot after the last value. */
  public long endSlot() {
    return firstSlot + slots;
  }

  /**
   * Tells whether the block is within its run, and can have as many bytes as the record says.
   *
   * @param codec what compressed the block
   * @param blockBytes most raw bytes of a block of several values
   */
  public boolean isPossible(RunRecord run, BlockShape shape, Codec codec, int blockBytes) {
    long slot = firstSlot - run.firstSlot();
    long offset = position - run.offset();
    return storedBytes >= 0
        && rawBytes >= 0
        && storedBytes <= MOST_BYTES
        && rawBytes <= MOST_BYTES
        && slots > 0
        && slot >= 0
        && slot <= run.count() - slots
        && offset >= 0
        && offset <= run.bytes() - storedBytes
        && (slots == 1 || rawBytes <= blockBytes)
        && (shape.isFixed()
            ? rawBytes == (long) slots * shape.valueWidth()
            : slots == 1 || rawBytes >= (long) slots * Integer.BYTES)
        && shape.allows(flags)
        && (BlockShape.isAsIs(flags)
            ? storedBytes == rawBytes
            : ValueCodec.isPossible(codec, storedBytes, rawBytes));
  }

  /** Says where and how long the block is. */
  public String described() {
    return slots + " values from " + Long.toUnsignedString(firstSlot) + " in "
        + Integer.toUnsignedString(storedBytes) + " bytes at " + Long.toUnsignedString(position)
        + ", " + Integer.toUnsignedString(rawBytes) + " when decoded";
  }
}
