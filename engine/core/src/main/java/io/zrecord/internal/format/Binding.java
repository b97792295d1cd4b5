package io.zrecord.internal.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * Binds the checksums of the units of one field to their places (FORMAT.md section 4), so that a
 * unit which is read in the place of another fails its checksum. The stored checksum of a unit is
 * the CRC32C of its bytes, exclusive or the CRC32C of these 32 bytes:
 *
 * <pre>
 *  0                               16      20      24              32
 * +-------------------------------+-------+-------+---------------+
 * | uuid of the shard or store    | field | kind  | unit u64      |
 * |                               | id u32| u32   |               |
 * +-------------------------------+-------+-------+---------------+
 * </pre>
 *
 * <p>So a unit is bound again without its bytes, and the bytes alone go through the processor's
 * instruction for CRC32C. Immutable.
 */
public final class Binding {
  private static final int BYTES = 32;
  private static final int UNIT_AT = 24;
  private static final int[][] UNIT_TABLES = unitTables();

  /** The CRC32C of the binding with unit number 0, by the code of the kind. */
  private final int[] sums = new int[Kind.ORIGINS.code + 1];

  /** What a unit is. */
  public enum Kind {
    /** The stored bytes of a value with an entry; the unit number is the slot. */
    VALUE(1),
    /** A value that is absent by its entry, without bytes; the unit number is the slot. */
    ABSENT(2),
    /** A block of a run; the unit number is that of its checksum in the file of runs. */
    BLOCK(3),
    /** A block of presence bits, by its number. */
    VALIDITY(4),
    /** A list of runs; the unit number is 0. */
    RUNS(5),
    /** Entries of values and their checksums, by the number of the unit in the section. */
    OFFSETS(6),
    /** Statistics of a block of slots, by its number. */
    STATISTICS(7),
    /** The slots of a patch that were deleted; the unit number is 0. */
    DELETED(9),
    /** The slots of a patch whose values of a field were changed; the unit number is 0. */
    CHANGED(10),
    /** A record of a journal, by its sequence number. */
    JOURNAL_RECORD(11),
    /** Checksums of units of runs, by the number of the group in the section. */
    CHECKSUMS(12),
    /** The slots that the commit of a patch deleted; the unit number is 0. */
    DELETED_SINCE(13),
    /** The slots to which the commit of a patch gave values of a field; the unit number is 0. */
    CHANGED_SINCE(14),
    /** The places where records of a new shard were; the unit number is 0. */
    ORIGINS(15);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    private static Kind ofEntry(long word0, long word1) {
      return Entry.isAbsent(word0, word1) ? ABSENT : VALUE;
    }
  }

  /**
   * Prepares the checksums of a field.
   *
   * @param owner uuid of the shard or store that the units are written for
   * @param fieldId id of the field; 0 for units that belong to no field
   */
  public Binding(UUID owner, int fieldId) {
    byte[] bytes = new byte[BYTES];
    ByteBuffer binding = ByteBuffer.wrap(bytes);
    binding.putLong(owner.getMostSignificantBits()).putLong(owner.getLeastSignificantBits());
    binding.order(ByteOrder.LITTLE_ENDIAN).putInt(fieldId);
    for (Kind kind : Kind.values()) {
      binding.putInt(20, kind.code);
      sums[kind.code] = Crc32c.of(bytes);
    }
  }

  /**
   * Returns the checksum of a unit that is to be stored.
   *
   * @param crc CRC32C of the unit's bytes
   */
  public int bind(Kind kind, long unit, int crc) {
    return crc ^ sums[kind.code] ^ ofUnit(unit);
  }

  /**
   * Returns the checksum that is to be stored for an entry.
   *
   * @param crc CRC32C of the stored bytes of the value; 0 if the value is absent
   */
  public int bindEntry(long slot, long word0, long word1, int crc) {
    return bind(Kind.ofEntry(word0, word1), slot, crc);
  }

  /** Returns the checksum of a unit that moves from one unit number to another. */
  public static int rebind(long from, long to, int checksum) {
    return checksum ^ ofUnit(from ^ to);
  }

  /** Returns how a unit number changes the CRC32C of a binding with unit number 0. */
  private static int ofUnit(long unit) {
    int low = (int) unit;
    int sum = UNIT_TABLES[0][low & 0xff]
        ^ UNIT_TABLES[1][low >>> 8 & 0xff]
        ^ UNIT_TABLES[2][low >>> 16 & 0xff]
        ^ UNIT_TABLES[3][low >>> 24];
    int high = (int) (unit >>> 32);
    if (high != 0) {
      sum ^= UNIT_TABLES[4][high & 0xff]
          ^ UNIT_TABLES[5][high >>> 8 & 0xff]
          ^ UNIT_TABLES[6][high >>> 16 & 0xff]
          ^ UNIT_TABLES[7][high >>> 24];
    }
    return sum;
  }

  /**
   * Returns a table for each byte of a unit number. A CRC of messages of one length is linear but
   * for a constant, so the effects of the bytes are joined by exclusive or.
   */
  private static int[][] unitTables() {
    byte[] bytes = new byte[BYTES];
    int ofZeros = Crc32c.of(bytes);
    int[][] tables = new int[Long.BYTES][256];
    for (int i = 0; i < Long.BYTES; i++) {
      for (int b = 0; b < 256; b++) {
        bytes[UNIT_AT + i] = (byte) b;
        tables[i][b] = Crc32c.of(bytes) ^ ofZeros;
      }
      bytes[UNIT_AT + i] = 0;
    }
    return tables;
  }
}
