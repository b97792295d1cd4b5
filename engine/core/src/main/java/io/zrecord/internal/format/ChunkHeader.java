package io.zrecord.internal.format;

import io.zrecord.errors.CorruptDataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * Writes and checks the first 64 bytes of a chunk file (FORMAT.md section 6). Integers are
 * little-endian.
 *
 * <pre>
 *   0                               8               12              16
 *  +-------------------------------+---------------+---------------+
 *  | "ZRECCHNK"                    | version u32   | 64 u32        |
 *  +---------------+---------------+---------------+---------------+
 *  | chunk id u32  | zero u32      | uuid of the shard, most       |
 *  +---------------+---------------+                               +
 *  | significant byte first        | zero, 20 bytes                |
 *  +-------------------------------+               +---------------+ 60
 *  |                                               | CRC32C of 60 B|
 *  +-----------------------------------------------+---------------+ 64
 *  | values, each at a multiple of 8                               |
 * </pre>
 *
 * @param chunkId id of the chunk, an unsigned int
 * @param shardId identity of the shard
 */
public record ChunkHeader(int chunkId, UUID shardId) {
  /** Length of the header, and least position of the first value. */
  public static final int BYTES = 64;

  private static final byte[] MAGIC = "ZRECCHNK".getBytes(StandardCharsets.US_ASCII);
  private static final int CRC_AT = 60;

  /** Returns the header as it is written to a file. */
  public byte[] encode() {
    byte[] bytes = new byte[BYTES];
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    buffer
        .put(MAGIC)
        .putInt(JsonObject.FORMAT_VERSION)
        .putInt(BYTES)
        .putInt(chunkId)
        .putInt(0);
    buffer.order(ByteOrder.BIG_ENDIAN);
    buffer.putLong(shardId.getMostSignificantBits()).putLong(shardId.getLeastSignificantBits());
    buffer.order(ByteOrder.LITTLE_ENDIAN).putInt(CRC_AT, Crc32c.of(bytes, 0, CRC_AT));
    return bytes;
  }

  /**
   * Checks the header found against the header expected.
   *
   * @param found the first {@value #BYTES} bytes of the file
   * @throws CorruptDataException if the header is damaged, or that of another chunk
   */
  public void check(String resource, byte[] found) {
    ByteBuffer buffer = ByteBuffer.wrap(found).order(ByteOrder.LITTLE_ENDIAN);
    if (!java.util.Arrays.equals(found, 0, MAGIC.length, MAGIC, 0, MAGIC.length)
        || buffer.getInt(CRC_AT) != Crc32c.of(found, 0, CRC_AT)) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource
              + ": its header is damaged, or it is not a chunk file; restore it from a copy");
    }
    HeaderVersion.requireKnown(resource, found);
    HeaderVersion.requirePlain(resource, found, BYTES, 20, 24, 40, 60);
    if (!java.util.Arrays.equals(found, encode())) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource + ": it is chunk "
              + Integer.toUnsignedString(buffer.getInt(16))
              + " of another shard, or of another place; expected chunk "
              + Integer.toUnsignedString(chunkId) + " of shard " + shardId);
    }
  }
}
