package io.zrecord.internal.format;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.schema.Codec;
import io.zrecord.shard.ChunkFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A record of the section {@code runs} of a tables file: consecutive slots whose values are found
 * in one way (FORMAT.md sections 4 and 5). Integers are little-endian. All runs of a field in one
 * file are of one kind, in order, without a gap, and cover the shard.
 *
 * <pre>
 *  0       4       8               16              24              32
 * +-------+-------+---------------+---------------+---------------+
 * | kind  | chunk | first slot    | count         | offset in the |
 * | u32   | u32   | u64           | u64           | chunk u64     |
 * +-------+-------+---------------+---------------+---------------+
 * | bytes in the  | first unit    | position in   | unit  | zero  |
 * | chunk u64     | u64           | offsets u64   | values| u32   |
 * +---------------+---------------+---------------+-------+-------+ 64
 * </pre>
 *
 * @param kind how values are found
 * @param chunk ordinal of the chunk in the file's list; {@link #NO_CHUNK} where entries tell it
 * @param firstSlot slot of the first value
 * @param count number of values, > 0
 * @param offset position of the first byte in the chunk; 0 without a chunk
 * @param bytes length in the chunk; 0 without a chunk
 * @param firstUnit number of the checksum of the first unit, or of the first compressed block
 * @param offsetsAt position in the section of offsets of the first block of a variable run
 * @param unitValues values of a variable run that share a checksum; 0 without checksums
 */
public record RunRecord(
    Kind kind,
    int chunk,
    long firstSlot,
    long count,
    long offset,
    long bytes,
    long firstUnit,
    long offsetsAt,
    int unitValues) {
  /** Length of a record. */
  public static final int BYTES = 64;

  /** Stands for the chunk of a run whose values are in any chunks. */
  public static final int NO_CHUNK = -1;

  private static final int OFFSETS_AT = 48;
  private static final int UNIT_VALUES_AT = 56;
  private static final int RESERVED_AT = 60;

  /** Ways in which values are found. */
  public enum Kind {
    /** Values of one width, one after the other. */
    FIXED(1),
    /** Values of any length, one after the other. */
    VARIABLE(2),
    /** Values that are compressed together. */
    BLOCK(3),
    /** An entry for each value. */
    ENTRY(4);

    private final int code;

    Kind(int code) {
      this.code = code;
    }
  }

  /** Returns a run of values of one width. */
  public static RunRecord fixed(
      int chunk, long firstSlot, long count, long offset, long bytes, long firstUnit) {
    return new RunRecord(Kind.FIXED, chunk, firstSlot, count, offset, bytes, firstUnit, 0, 0);
  }

  /** Returns a run of values of any length. */
  public static RunRecord variable(
      int chunk,
      long firstSlot,
      long count,
      long offset,
      long bytes,
      long firstUnit,
      long offsetsAt,
      int unitValues) {
    return new RunRecord(
        Kind.VARIABLE, chunk, firstSlot, count, offset, bytes, firstUnit, offsetsAt, unitValues);
  }

  /** Returns a run of blocks, the first of which has a number in the section of offsets. */
  public static RunRecord blocks(
      int chunk, long firstSlot, long count, long offset, long bytes, long firstBlock) {
    return new RunRecord(Kind.BLOCK, chunk, firstSlot, count, offset, bytes, firstBlock, 0, 0);
  }

  /** Returns the run of a field whose values all have entries. */
  public static RunRecord entries(long length) {
    return new RunRecord(Kind.ENTRY, NO_CHUNK, 0, length, 0, 0, 0, 0, 0);
  }

  /** Returns the number of units of {@code unitBytes} in {@code bytes} bytes. */
  public static long unitCount(long bytes, int unitBytes) {
    return bytes / unitBytes + (bytes % unitBytes == 0 ? 0 : 1);
  }

  /** Returns the section of some runs. */
  public static byte[] encode(List<RunRecord> runs) {
    byte[] section = new byte[Math.multiplyExact(runs.size(), BYTES)];
    ByteBuffer out = ByteBuffer.wrap(section).order(ByteOrder.LITTLE_ENDIAN);
    for (RunRecord run : runs) {
      out.putInt(run.kind.code).putInt(run.chunk).putLong(run.firstSlot).putLong(run.count);
      out.putLong(run.offset).putLong(run.bytes).putLong(run.firstUnit);
      out.putLong(run.offsetsAt).putInt(run.unitValues).putInt(0);
    }
    return section;
  }

  /**
   * Reads the section of a field and checks everything that can be checked without other sections
   * and chunks.
   *
   * @param resource the file, for messages
   * @param section bytes of the section, as many as {@code field} says
   * @param widthBytes bytes of a value; -1 if they differ
   * @throws CorruptDataException if the section is damaged, or contradicts the field
   * @throws UnsupportedFormatException if a run uses what this release does not know
   */
  public static List<RunRecord> read(
      String resource,
      byte[] section,
      TablesJson file,
      FieldTables field,
      int widthBytes,
      Binding binding) {
    int checksum = binding.bind(Binding.Kind.RUNS, 0, Crc32c.of(section));
    if (section.length == 0 || section.length % BYTES != 0 || checksum != field.runsChecksum()) {
      throw corrupt(
          resource,
          field,
          "they are damaged, or of another field or shard: their checksum does not hold");
    }
    ByteBuffer in = ByteBuffer.wrap(section).order(ByteOrder.LITTLE_ENDIAN);
    Kind kind = kind(resource, field, in.getInt(0));
    requireSections(resource, file, field, kind, widthBytes);
    List<RunRecord> runs = new ArrayList<>(section.length / BYTES);
    long nextSlot = 0;
    long nextUnit = 0;
    long nextOffsets = 0;
    for (int at = 0; at < section.length; at += BYTES) {
      if (kind(resource, field, in.getInt(at)) != kind) {
        throw corrupt(resource, field, "they are of two kinds");
      }
      if (in.getInt(at + RESERVED_AT) != 0) {
        throw unsupported(resource, field, "reserved bytes of a run");
      }
      RunRecord run = new RunRecord(
          kind,
          in.getInt(at + 4),
          in.getLong(at + 8),
          in.getLong(at + 16),
          in.getLong(at + 24),
          in.getLong(at + 32),
          in.getLong(at + 40),
          in.getLong(at + OFFSETS_AT),
          in.getInt(at + UNIT_VALUES_AT));
      boolean fits = run.firstSlot == nextSlot
          && run.count > 0
          && run.count <= file.length() - nextSlot
          && (kind == Kind.BLOCK ? run.firstUnit >= nextUnit : run.firstUnit == nextUnit)
          && run.offsetsAt == nextOffsets
          && switch (kind) {
            case FIXED -> run.isFixed(widthBytes, file.chunks());
            case VARIABLE -> run.isVariable(file);
            case BLOCK -> run.isBlocks(field, file.chunks());
            case ENTRY -> run.isEntries(file);
          };
      if (!fits) {
        throw corrupt(
            resource,
            field,
            "run " + at / BYTES
                + " does not follow the one before, or is not within a chunk of the shard: " + run);
      }
      runs.add(run);
      nextSlot += run.count;
      if (kind == Kind.VARIABLE) {
        nextUnit += VariableBlocks.unitCount(run.count, run.unitValues);
        nextOffsets += VariableBlocks.runBytes(run.count, run.unitValues);
      }
      nextUnit = kind == Kind.BLOCK ? run.firstUnit + 1 : nextUnit;
      if (field.units().isPresent()) {
        nextUnit += unitCount(run.bytes, field.unitBytes());
        if (nextUnit > field.units().bytes()) {
          throw corrupt(resource, field, "they have more units than there are checksums");
        }
      }
    }
    if (nextSlot != file.length()
        || (field.units().isPresent() && field.units().bytes() != UnitChecksums.bytes(nextUnit))
        || (kind == Kind.VARIABLE && field.offsets().bytes() != nextOffsets)) {
      throw corrupt(
          resource,
          field,
          "they cover " + nextSlot + " of " + file.length() + " records, and their " + nextUnit
              + " units have " + field.units().bytes() + " bytes of checksums, and the blocks "
              + field.offsets().bytes() + " bytes");
    }
    return runs;
  }

  private static void requireSections(
      String resource, TablesJson file, FieldTables field, Kind kind, int widthBytes) {
    boolean fits = switch (kind) {
      case FIXED ->
        widthBytes > 0
            && field.compression().codec() == Codec.RAW
            && field.units().isPresent() == file.hasChecksums()
            && (field.validity().isPresent() || field.absentCount() == 0)
            && !field.offsets().isPresent();
      case VARIABLE ->
        !field.units().isPresent()
            && (field.validity().isPresent() || field.absentCount() == 0)
            && field.offsets().isPresent();
      case BLOCK ->
        !field.units().isPresent()
            && (field.validity().isPresent() || field.absentCount() == 0)
            && widthBytes != 0
            && field.blockBytes() > 0
            && field.compression().codec() != Codec.RAW
            && BlockUnits.blocks(field.offsets().bytes()) > 0;
      case ENTRY ->
        !field.units().isPresent()
            && !field.validity().isPresent()
            && field.offsets().bytes() == EntryUnits.bytes(file.length());
    };
    if (!fits) {
      throw corrupt(resource, field, "it has not the tables that they need: " + field);
    }
  }

  private boolean isFixed(int widthBytes, List<ChunkFile> chunks) {
    return count <= Long.MAX_VALUE / Long.BYTES / widthBytes
        && bytes == count * widthBytes
        && unitValues == 0
        && isWithinChunk(chunks);
  }

  private boolean isVariable(TablesJson file) {
    boolean hasUnits =
        Integer.bitCount(unitValues) == 1 && unitValues <= VariableBlocks.BLOCK_VALUES;
    return (file.hasChecksums() ? hasUnits && unitValues > 0 : unitValues == 0)
        && bytes >= 0
        && isWithinChunk(file.chunks());
  }

  /** Blocks have at least one slot, and the first run begins with the first block. */
  private boolean isBlocks(FieldTables field, List<ChunkFile> chunks) {
    return bytes >= 0
        && (firstSlot == 0) == (firstUnit == 0)
        && firstUnit <= firstSlot
        && firstUnit < BlockUnits.blocks(field.offsets().bytes())
        && unitValues == 0
        && isWithinChunk(chunks);
  }

  private boolean isWithinChunk(List<ChunkFile> chunks) {
    return chunk >= 0
        && chunk < chunks.size()
        && offset >= FileHeader.BYTES
        && offset % Long.BYTES == 0
        && offset <= chunks.get(chunk).bytes() - bytes;
  }

  private boolean isEntries(TablesJson file) {
    return chunk == NO_CHUNK
        && offset == 0
        && bytes == 0
        && unitValues == 0
        && count == file.length();
  }

  private static Kind kind(String resource, FieldTables field, int code) {
    for (Kind kind : Kind.values()) {
      if (kind.code == code) {
        return kind;
      }
    }
    throw unsupported(resource, field, "runs of kind " + Integer.toUnsignedString(code));
  }

  private static UnsupportedFormatException unsupported(
      String resource, FieldTables field, String feature) {
    return new UnsupportedFormatException(
        resource,
        "Cannot read field " + field.id() + " in " + resource + ": it uses " + feature
            + ", which this release does not know; upgrade zrecord");
  }

  private static CorruptDataException corrupt(String resource, FieldTables field, String reason) {
    return new CorruptDataException(
        resource,
        "Cannot read the runs of field " + field.id() + " in " + resource + ": " + reason
            + ". Restore the file from a copy");
  }

  /**
   * Returns the position in a chunk up to which runs follow a byte without a gap.
   *
   * @param runs all runs of a field, in order
   * @param position a byte of a run; itself if it is in none
   */
  public static long endBytes(List<RunRecord> runs, int chunk, long position) {
    long end = position;
    for (RunRecord run : runs) {
      if (run.chunk == chunk && run.offset <= end && end < run.offset + run.bytes) {
        end = run.offset + run.bytes;
      }
    }
    return end;
  }
}
