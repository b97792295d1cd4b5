package io.zrecord.internal.store;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.HeaderVersion;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * The layout of the file {@code live} (FORMAT.md section 9.8). Integers are little-endian.
 *
 * <pre>
 *     0                               8               12              16
 *    +-------------------------------+---------------+---------------+
 *    | "ZRECLIVE"                    | version u32   | 8384 u32      |
 *    +-------------------------------+---------------+---------------+
 *    | uuid of the store, most significant byte first                |
 *    +-------------------------------+---------------+---------------+
 *    | zero                          | CRC32C of 40 B| zero          |
 *    +-------------------------------+---------------+---------------+ 64
 *    | published length u64          | journal sequence u64          |
 *    +-------------------------------+-------------------------------+ 128
 *    | stamp of all records u64      | what the writer does u64      |
 *    +-------------------------------+-------------------------------+ 144
 *    | zero up to 192
 *    +-------------------------------+-------------------------------+ 192
 *    | 1024 stamps u64, each of the records whose index mod 1024 is its number
 * </pre>
 *
 * <p>Stateless.
 */
final class LiveFile {
  static final String NAME = "live";

  static final int STRIPES = 1024;
  static final int LENGTH_AT = 64;
  static final int SEQUENCE_AT = 72;
  static final int RECOVERY_STAMP_AT = 128;
  static final int STATE_AT = 136;
  static final int STRIPES_AT = 192;
  static final int FILE_BYTES = STRIPES_AT + STRIPES * Long.BYTES;

  /** A writer has the store open, or has left it, and is not changing the tables. */
  static final long OUTSIDE = 0;

  /** A writer may be changing the tables. So does any other unknown number say. */
  static final long INSIDE = 1;

  /** The last writer closed the store. */
  static final long CLOSED = 2;

  /** The last writer is outside, and no writer will go on with this file. */
  static final long LEFT = 3;

  /** The stamp of all records in a file that no writer updates any longer; odd. */
  static final long WITHDRAWN = -1;

  private static final byte[] MAGIC = "ZRECLIVE".getBytes(StandardCharsets.US_ASCII);
  private static final int CRC_AT = 40;

  private LiveFile() {}

  /** Returns the file of a store that was closed. */
  static byte[] atRest(UUID storeId, long length, long sequence) {
    byte[] content = empty(storeId, sequence, CLOSED);
    ByteBuffer.wrap(content)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(LENGTH_AT, length)
        .putLong(RECOVERY_STAMP_AT, 2);
    return content;
  }

  /** Makes a file whose stamp of all records is odd: it has no length yet. */
  static byte[] empty(UUID storeId, long sequence, long state) {
    byte[] content = new byte[FILE_BYTES];
    ByteBuffer buffer = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    buffer.put(MAGIC).putInt(JsonObject.FORMAT_VERSION).putInt(FILE_BYTES);
    buffer
        .order(ByteOrder.BIG_ENDIAN)
        .putLong(storeId.getMostSignificantBits())
        .putLong(storeId.getLeastSignificantBits())
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(CRC_AT, Crc32c.of(content, 0, CRC_AT))
        .putLong(SEQUENCE_AT, sequence)
        .putLong(RECOVERY_STAMP_AT, 1)
        .putLong(STATE_AT, state);
    return content;
  }

  /** Makes a file that no writer will update. */
  static byte[] withdrawn(UUID storeId, long sequence, long state) {
    byte[] content = empty(storeId, sequence, state);
    ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).putLong(RECOVERY_STAMP_AT, WITHDRAWN);
    return content;
  }

  /**
   * Maps the file.
   *
   * @throws CorruptDataException if it is damaged or of another store
   */
  static ByteBuffer map(MutableFiles files, UUID storeId, boolean writable) {
    try (MutableFile file = files.open(NAME, writable)) {
      byte[] header = new byte[LENGTH_AT];
      ByteBuffer buffer = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
      int read = file.read(0, buffer);
      buffer.order(ByteOrder.BIG_ENDIAN);
      if (read != header.length
          || !Arrays.equals(header, 0, MAGIC.length, MAGIC, 0, MAGIC.length)
          || buffer.order(ByteOrder.LITTLE_ENDIAN).getInt(CRC_AT) != Crc32c.of(header, 0, CRC_AT)) {
        throw damaged(file);
      }
      HeaderVersion.requireKnown(file.path(), header);
      HeaderVersion.requirePlain(file.path(), header, FILE_BYTES, 32, CRC_AT);
      buffer.order(ByteOrder.BIG_ENDIAN);
      if (file.lengthBytes() != FILE_BYTES
          || buffer.getLong(16) != storeId.getMostSignificantBits()
          || buffer.getLong(24) != storeId.getLeastSignificantBits()) {
        throw damaged(file);
      }
      return file.map(0, FILE_BYTES, writable);
    }
  }

  private static CorruptDataException damaged(MutableFile file) {
    return new CorruptDataException(
        file.path(),
        "Cannot read " + file.path()
            + ": it is damaged or of another store. It has no data of its own: open the store for writing once, which makes it anew");
  }
}
