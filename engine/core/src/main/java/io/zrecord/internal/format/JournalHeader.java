package io.zrecord.internal.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * The first 64 bytes of the journal of a store (FORMAT.md section 9). Integers are little-endian.
 *
 * <pre>
 *   0                               8               12              16
 *  +-------------------------------+---------------+---------------+
 *  | "ZRECJRNL"                    | version u32   | 64 u32        |
 *  +-------------------------------+---------------+---------------+
 *  | uuid of the store, most significant byte first                |
 *  +---------------------------------------------------------------+
 *  | zero, 28 bytes                                                |
 *  +                                               +---------------+ 60
 *  |                                               | CRC32C of 60 B|
 *  +-----------------------------------------------+---------------+ 64
 * </pre>
 *
 * @param storeId identity of the store
 */
public record JournalHeader(UUID storeId) {
  /** Length of the header: where the first record starts. */
  public static final int BYTES = 64;

  private static final byte[] MAGIC = "ZRECJRNL".getBytes(StandardCharsets.US_ASCII);
  private static final int CRC_AT = 60;

  /** Returns the bytes of the header. */
  public byte[] encode() {
    byte[] header = new byte[BYTES];
    ByteBuffer bytes = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    bytes.put(MAGIC).putInt(JsonObject.FORMAT_VERSION).putInt(BYTES);
    bytes
        .order(ByteOrder.BIG_ENDIAN)
        .putLong(storeId.getMostSignificantBits())
        .putLong(storeId.getLeastSignificantBits())
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(CRC_AT, Crc32c.of(header, 0, CRC_AT));
    return header;
  }

  /** Tells whether the bytes are the header of some journal, of any version and any store. */
  public static boolean isWhole(byte[] found) {
    ByteBuffer bytes = ByteBuffer.wrap(found).order(ByteOrder.LITTLE_ENDIAN);
    return Arrays.equals(found, 0, MAGIC.length, MAGIC, 0, MAGIC.length)
        && bytes.getInt(CRC_AT) == Crc32c.of(found, 0, CRC_AT);
  }

  /** Tells whether a header belongs to this store. */
  public boolean isIdOf(byte[] found) {
    ByteBuffer bytes = ByteBuffer.wrap(found).order(ByteOrder.BIG_ENDIAN);
    return bytes.getLong(16) == storeId.getMostSignificantBits()
        && bytes.getLong(24) == storeId.getLeastSignificantBits();
  }
}
