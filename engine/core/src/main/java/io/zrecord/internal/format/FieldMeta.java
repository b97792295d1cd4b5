package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.FileStems;

/**
 * A field in the meta file of a store (FORMAT.md section 9).
 *
 * @param spec the field
 * @param stem stem of the field's files
 * @param absentCount number of absent values
 * @param valueBytes sum of the physical lengths
 */
public record FieldMeta(FieldSpec spec, String stem, long absentCount, long valueBytes) {
  /** The only layout of the tables of a store. */
  static final String LAYOUT = "entries";

  ObjectNode write() {
    return FieldJson.write(spec)
        .put("stem", stem)
        .put("layout", LAYOUT)
        .put("absent", absentCount)
        .put("valueBytes", valueBytes);
  }

  static FieldMeta read(JsonObject json, long length) {
    FieldMeta field = new FieldMeta(
        FieldJson.read(json),
        json.string("stem"),
        json.integer("absent", 0, length),
        json.integer("valueBytes", 0, Long.MAX_VALUE));
    if (!FileStems.isAllowed(field.stem)) {
      throw json.corrupt(
          "the file stem '" + field.stem + "' of field '" + field.spec.name() + "' is not allowed");
    }
    return field;
  }
}
