package io.zrecord.internal.format;

import io.zrecord.errors.CorruptDataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * Writes and checks the first 64 bytes of a file of a shard in a table (FORMAT.md section 3).
 * Integers are little-endian; a uuid has its most significant byte first.
 *
 * <pre>
 *   0                               8               12              16
 *  +-------------------------------+---------------+---------------+
 *  | "ZRECCHNK", "ZRECTBLS" or     | version u32   | 64 u32        |
 *  | "ZRECPTCH"                    |               |               |
 *  +-------------------------------+---------------+---------------+
 *  | uuid of the shard                                             |
 *  +---------------------------------------------------------------+ 32
 *  | uuid of the file                                              |
 *  +-----------------------------------------------+---------------+ 60
 *  | zero                                          | CRC32C of 60 B|
 *  +-----------------------------------------------+---------------+ 64
 * </pre>
 *
 * @param kind what the file holds
 * @param shardId identity of the shard
 * @param fileId identity of the file, which is in its name
 */
public record FileHeader(Kind kind, UUID shardId, UUID fileId) {
  /** Length of the header. */
  public static final int BYTES = 64;

  private static final int MAGIC_BYTES = 8;
  private static final int SHARD_AT = 16;
  private static final int FILE_AT = 32;
  private static final int RESERVED_AT = 48;
  private static final int CRC_AT = 60;

  /** Kinds of files with this header. */
  public enum Kind {
    CHUNK("ZRECCHNK", "chunk file"),
    TABLES("ZRECTBLS", "tables file"),
    PATCH("ZRECPTCH", "patch");

    private final String magic;
    private final String described;

    Kind(String magic, String described) {
      this.magic = magic;
      this.described = described;
    }

    private byte[] magic() {
      return magic.getBytes(StandardCharsets.US_ASCII);
    }
  }

  /** Returns the header as it is written to a file. */
  public byte[] encode() {
    byte[] bytes = new byte[BYTES];
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    buffer.put(kind.magic()).putInt(JsonObject.FORMAT_VERSION).putInt(BYTES);
    buffer.order(ByteOrder.BIG_ENDIAN);
    put(buffer, shardId);
    put(buffer, fileId);
    buffer.order(ByteOrder.LITTLE_ENDIAN).putInt(CRC_AT, Crc32c.of(bytes, 0, CRC_AT));
    return bytes;
  }

  /**
   * Checks the header found against the header expected.
   *
   * @param found the first {@value #BYTES} bytes of the file
   * @throws CorruptDataException if the header is damaged, or that of another file
   * @throws io.zrecord.errors.UnsupportedFormatException if the header uses what this release does
   *     not know
   */
  public void check(String resource, byte[] found) {
    ByteBuffer buffer = ByteBuffer.wrap(found).order(ByteOrder.LITTLE_ENDIAN);
    if (!Arrays.equals(found, 0, MAGIC_BYTES, kind.magic(), 0, MAGIC_BYTES)
        || buffer.getInt(CRC_AT) != Crc32c.of(found, 0, CRC_AT)) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource + ": its header is damaged, or it is not a " + kind.described
              + "; restore it from a copy");
    }
    HeaderVersion.requireKnown(resource, found);
    HeaderVersion.requirePlain(resource, found, BYTES, RESERVED_AT, CRC_AT);
    if (!Arrays.equals(found, encode())) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource + ": it was written as file " + uuid(found, FILE_AT)
              + " of shard " + uuid(found, SHARD_AT) + ", expected file " + fileId + " of shard "
              + shardId + "; restore it from a copy");
    }
  }

  private static void put(ByteBuffer buffer, UUID uuid) {
    buffer.putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits());
  }

  private static UUID uuid(byte[] bytes, int at) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return new UUID(buffer.getLong(at), buffer.getLong(at + 8));
  }
}
