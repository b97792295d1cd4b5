package io.zrecord.store;

import io.zrecord.Batch;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;

/**
 * Records whose values say which record and which version they are of, and show whether they are
 * whole.
 */
final class StampedRecords {
  static final String RAW = "raw";
  static final String PACKED = "packed";
  static final String NUMBER = "number";
  static final RecordSchema SCHEMA = RecordSchema.builder()
      .field(RAW, ElementType.BYTES)
      .field(PACKED, ElementType.BYTES, Shape.scalar(), Compression.of(Codec.LZ4))
      .field(NUMBER, ElementType.I64)
      .build();
  private static final int STAMP_BYTES = 2 * Long.BYTES;
  private static final int CRC_BYTES = Integer.BYTES;
  private static final int LARGEST_BYTES = 20_000;

  private StampedRecords() {}

  /**
   * Which record, and which version of it.
   *
   * @param id of the record, which it keeps wherever it moves
   * @param version counted from 0
   */
  record Stamp(long id, long version) {}

  /** Sets all fields; in odd versions the number is absent. */
  static RecordValues fill(RecordValues values, Stamp stamp) {
    values.clear().set(RAW, value(stamp, 0)).set(PACKED, value(stamp, 1));
    return hasNumber(stamp) ? values.set(NUMBER, number(stamp)) : values.setAbsent(NUMBER);
  }

  static boolean hasNumber(Stamp stamp) {
    return (stamp.version() & 1) == 0;
  }

  static long number(Stamp stamp) {
    return stamp.id() << 32 ^ stamp.version();
  }

  private static byte[] value(Stamp stamp, int field) {
    Random random = new Random(31 * (number(stamp) ^ field));
    random.nextLong();
    int length = random.nextInt(50) == 0 ? random.nextInt(LARGEST_BYTES) : random.nextInt(500);
    byte[] value = new byte[STAMP_BYTES + length + CRC_BYTES];
    random.nextBytes(value);
    if (field == 1) {
      for (int i = 0; i < value.length; i++) {
        value[i] &= 7;
      }
    }
    ByteBuffer.wrap(value)
        .putLong(stamp.id())
        .putLong(stamp.version())
        .putInt(value.length - CRC_BYTES, crc(value));
    return value;
  }

  private static int crc(byte[] value) {
    CRC32C crc = new CRC32C();
    crc.update(value, 0, value.length - CRC_BYTES);
    return (int) crc.getValue();
  }

  /**
   * Returns the stamp of a value.
   *
   * @throws WrongValueException if the value is not whole
   */
  static Stamp stampOf(byte[] value) {
    if (value.length < STAMP_BYTES + CRC_BYTES
        || ByteBuffer.wrap(value).getInt(value.length - CRC_BYTES) != crc(value)) {
      throw new WrongValueException("a torn value of " + value.length + " bytes");
    }
    ByteBuffer bytes = ByteBuffer.wrap(value);
    return new Stamp(bytes.getLong(), bytes.getLong());
  }

  /**
   * Returns the stamp of a record in a batch.
   *
   * @throws WrongValueException if a value is not whole, or the values are not of one version of
   *     one record
   */
  static Stamp stampOf(Batch batch, int place) {
    Stamp stamp = stampOf(batch.bytes(RAW, place));
    Stamp packed = stampOf(batch.bytes(PACKED, place));
    boolean hasNumber = !batch.isAbsent(NUMBER, place);
    long number = hasNumber
        ? Long.reverseBytes(ByteBuffer.wrap(batch.bytes(NUMBER, place)).getLong())
        : 0;
    if (!packed.equals(stamp)
        || hasNumber != hasNumber(stamp)
        || (hasNumber && number != number(stamp))) {
      throw new WrongValueException(stamp + " beside " + packed + " and number " + number);
    }
    return stamp;
  }

  /** Returns whether a value is what the value of a version must be. */
  static boolean isWhole(byte[] value, Stamp stamp) {
    return Arrays.equals(value, value(stamp, 0));
  }

  /** A reader got something else than what was written. */
  static final class WrongValueException extends RuntimeException {
    WrongValueException(String message) {
      super(message);
    }
  }
}
