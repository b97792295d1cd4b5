package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.FileStems;

/**
 * A field in the meta file of a shard (FORMAT.md section 3).
 *
 * @param spec the field
 * @param stem stem of the field's files
 * @param layout how values are found
 * @param absentCount number of absent values
 * @param valueBytes sum of the physical lengths
 */
public record FieldMeta(
    FieldSpec spec, String stem, Layout layout, long absentCount, long valueBytes) {

  /** How the values of a field are found. */
  public enum Layout {
    ENTRIES,
    RUNS;

    static Layout parse(String name) {
      return switch (name) {
        case "entries" -> ENTRIES;
        case "runs" -> RUNS;
        default -> throw new IllegalArgumentException("expected entries or runs");
      };
    }

    @Override
    public String toString() {
      return this == ENTRIES ? "entries" : "runs";
    }
  }

  ObjectNode write() {
    return FieldJson.write(spec)
        .put("stem", stem)
        .put("layout", layout.toString())
        .put("absent", absentCount)
        .put("valueBytes", valueBytes);
  }

  static FieldMeta read(JsonObject json, long length) {
    FieldMeta field = new FieldMeta(
        FieldJson.read(json),
        json.string("stem"),
        json.parse("layout", Layout::parse),
        json.integer("absent", 0, length),
        json.integer("valueBytes", 0, Long.MAX_VALUE));
    if (!FileStems.isAllowed(field.stem)) {
      throw json.corrupt(
          "the file stem '" + field.stem + "' of field '" + field.spec.name() + "' is not allowed");
    }
    if (field.layout == Layout.RUNS && !field.spec.isDense()) {
      throw json.corrupt("field '" + field.spec.name()
          + "' has runs, but its values are not raw and of one width");
    }
    return field;
  }
}
