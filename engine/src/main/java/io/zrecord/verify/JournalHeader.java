package io.zrecord.verify;

import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.HeaderVersion;
import io.zrecord.internal.io.MutableFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/** What the first 64 bytes of a store's journal are (FORMAT.md section 9). */
enum JournalHeader {
  SOUND,
  /** The records behind it can be read. */
  DAMAGED,
  /** The journal is that of another store. */
  FOREIGN,
  /** There is no file. */
  MISSING;

  static final int BYTES = 64;
  private static final int CRC_AT = 60;
  private static final byte[] MAGIC = "ZRECJRNL".getBytes(StandardCharsets.US_ASCII);

  /**
   * Tells by the header.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if the journal is of a later format
   */
  static JournalHeader of(MutableFile file, UUID storeId) {
    byte[] found = new byte[BYTES];
    file.read(0, ByteBuffer.wrap(found));
    if (Arrays.equals(found, encode(storeId))) {
      return SOUND;
    }
    boolean isWhole = Arrays.equals(found, 0, MAGIC.length, MAGIC, 0, MAGIC.length)
        && ByteBuffer.wrap(found).order(ByteOrder.LITTLE_ENDIAN).getInt(CRC_AT)
            == Crc32c.of(found, 0, CRC_AT);
    if (isWhole) {
      HeaderVersion.requireKnown(file.path(), found);
    }
    return isWhole ? FOREIGN : DAMAGED;
  }

  /** The header of the journal of a store. */
  static byte[] encode(UUID storeId) {
    byte[] header = new byte[BYTES];
    ByteBuffer bytes = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    bytes.put(MAGIC).putInt(1).putInt(BYTES).order(ByteOrder.BIG_ENDIAN);
    bytes.putLong(storeId.getMostSignificantBits()).putLong(storeId.getLeastSignificantBits());
    bytes.order(ByteOrder.LITTLE_ENDIAN).putInt(CRC_AT, Crc32c.of(header, 0, CRC_AT));
    return header;
  }
}
