package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.Shape;
import java.util.HexFormat;

/**
 * What the JSON of a tables file says of a field (FORMAT.md section 3): how its values are stored,
 * and where its tables are in the file. The sections of a field that are missing are
 * {@link Section#NONE}.
 *
 * @param id number of the field
 * @param type type of an element
 * @param shape shape of a value
 * @param compression how values are compressed; the level is informative
 * @param absentCount number of absent values
 * @param valueBytes sum of the physical lengths
 * @param unitBytes bytes of a run that share a checksum, a power of two; 0 without {@code units}
 * @param alignment where the values of variable runs begin
 * @param blockBytes most raw bytes of a block of several values; 0 without blocks
 * @param runs list of the runs
 * @param runsChecksum checksum of that list, bound to the field
 * @param units checksums of the units of fixed runs
 * @param validity a bit for each slot
 * @param offsets places of values
 * @param statistics what the values in blocks of slots are
 */
public record FieldTables(
    int id,
    ElementType type,
    Shape shape,
    Compression compression,
    long absentCount,
    long valueBytes,
    int unitBytes,
    ValueAlignment alignment,
    int blockBytes,
    Section runs,
    int runsChecksum,
    Section units,
    Section validity,
    Section offsets,
    Section statistics) {
  /** Least bytes of a run that share a checksum. */
  public static final int LEAST_UNIT_BYTES = 1 << 12;

  /** Most bytes of a run that share a checksum. */
  public static final int MOST_UNIT_BYTES = 1 << 16;

  /** Least of {@link #blockBytes}. */
  public static final int LEAST_BLOCK_BYTES = 1 << 12;

  /** Most of {@link #blockBytes}: readers decode a block for each random value. */
  public static final int MOST_BLOCK_BYTES = 1 << 24;

  /** Values that a unit should have at least: verifying one then costs a few more. */
  private static final int UNIT_VALUES = 4;

  /** Returns the unit for values of a width: small, but not so small that checksums take space. */
  public static int unitBytesOf(int widthBytes) {
    long wanted = Math.min(MOST_UNIT_BYTES, (long) UNIT_VALUES * widthBytes);
    return Math.max(LEAST_UNIT_BYTES, Integer.highestOneBit((int) (2 * wanted - 1)));
  }

  ObjectNode write() {
    ObjectNode node = SealedJson.object();
    node.put("id", id);
    TypeJson.write(node, type, shape);
    FieldJson.write(node, compression);
    node.put("absent", absentCount).put("valueBytes", valueBytes);
    if (unitBytes > 0) {
      node.put("unitBytes", unitBytes);
    }
    if (!alignment.equals(ValueAlignment.NONE)) {
      node.putArray("align").add(alignment.least()).add(alignment.most());
    }
    if (blockBytes > 0) {
      node.put("blockBytes", blockBytes);
    }
    runs.writeTuple(node, "runs").add(HexFormat.of().toHexDigits(runsChecksum));
    units.write(node, "units");
    validity.write(node, "validity");
    offsets.write(node, "offsets");
    statistics.write(node, "statistics");
    return node;
  }

  /**
   * Reads a field.
   *
   * @param length records of the shard
   * @param endBytes where sections end in the file
   */
  static FieldTables read(JsonObject json, long length, long endBytes) {
    JsonTuple runs = JsonTuple.of(json, "runs", 3, 3);
    FieldTables field = new FieldTables(
        (int) json.integer("id", 1, Integer.MAX_VALUE),
        TypeJson.read(json),
        TypeJson.shape(json),
        FieldJson.compression(json),
        json.integer("absent", 0, length),
        json.integer("valueBytes", 0, Long.MAX_VALUE),
        json.optionalInteger("unitBytes", LEAST_UNIT_BYTES, MOST_UNIT_BYTES).orElse(0),
        alignment(json),
        json.optionalInteger("blockBytes", LEAST_BLOCK_BYTES, MOST_BLOCK_BYTES).orElse(0),
        Section.read(runs, endBytes),
        runs.checksum(2),
        Section.read(json, "units", endBytes),
        Section.read(json, "validity", endBytes),
        Section.read(json, "offsets", endBytes),
        Section.read(json, "statistics", endBytes));
    if (field.units.isPresent() != (field.unitBytes > 0) || Integer.bitCount(field.unitBytes) > 1) {
      throw json.corrupt("field " + field.id + " has units of " + field.unitBytes + " bytes");
    }
    if (field.validity.isPresent() && field.validity.bytes() != ValidityUnits.bytes(length)) {
      throw json.corrupt("field " + field.id + " has " + field.validity.bytes()
          + " bytes of presence bits for " + length + " records");
    }
    if (field.statistics.isPresent()
        && field.statistics.bytes() != StatisticsRecord.bytes(length)) {
      throw json.corrupt("field " + field.id + " has " + field.statistics.bytes()
          + " bytes of statistics for " + length + " records");
    }
    return field;
  }

  private static ValueAlignment alignment(JsonObject json) {
    if (!json.has("align")) {
      return ValueAlignment.NONE;
    }
    JsonTuple tuple = JsonTuple.of(json, "align", 2, 2);
    try {
      return new ValueAlignment((int) tuple.integer(0, 1, ValueAlignment.MOST_LEAST), (int)
          tuple.integer(1, 1, ValueAlignment.MOST_MOST));
    } catch (IllegalArgumentException e) {
      throw tuple.corrupt("two powers of two, the second not less than the first");
    }
  }
}
