package io.zrecord.internal.format;

import io.zrecord.errors.CorruptDataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The last 16 bytes of a tables file (FORMAT.md section 3). They tell where the JSON is, for
 * whoever has no manifest that does. Integers are little-endian.
 *
 * <pre>
 *  0                               8               12              16
 * +-------------------------------+---------------+---------------+
 * | position of the JSON u64      | bytes u32     | CRC32C of 12 B|
 * +-------------------------------+---------------+---------------+
 * </pre>
 *
 * @param position where the JSON begins
 * @param bytes length of the JSON, which ends where this begins
 */
public record TablesTrailer(long position, int bytes) {
  /** Length of the trailer. */
  public static final int BYTES = 16;

  private static final int CRC_AT = 12;

  /** Returns the trailer as it is written to a file. */
  public byte[] encode() {
    byte[] trailer = new byte[BYTES];
    ByteBuffer buffer = ByteBuffer.wrap(trailer).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putLong(position).putInt(bytes).putInt(Crc32c.of(trailer, 0, CRC_AT));
    return trailer;
  }

  /**
   * Reads a trailer.
   *
   * @param resource the file, for messages
   * @param fileBytes length of the file
   * @throws CorruptDataException if the trailer is damaged, or contradicts the length of the file
   */
  public static TablesTrailer read(String resource, byte[] trailer, long fileBytes) {
    ByteBuffer buffer = ByteBuffer.wrap(trailer).order(ByteOrder.LITTLE_ENDIAN);
    long position = buffer.getLong(0);
    int bytes = buffer.getInt(8);
    if (buffer.getInt(CRC_AT) != Crc32c.of(trailer, 0, CRC_AT)
        || position < FileHeader.BYTES
        || bytes < 1
        || bytes > SealedJson.MAX_BYTES
        || position != fileBytes - BYTES - bytes) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource
              + ": its last 16 bytes are damaged, or it was cut; restore it from a copy");
    }
    return new TablesTrailer(position, bytes);
  }
}
