package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.Shape;

/**
 * What a patch says of a field with values that were changed (FORMAT.md section 3.3).
 *
 * @param id number of the field
 * @param type type of an element
 * @param shape shape of a value
 * @param compression how values are compressed; the level is informative
 * @param count number of changed values
 * @param absentCount number of those that are absent
 * @param valueBytes sum of the physical lengths of those that are present
 * @param slots their slots
 * @param entries their places, in the order of the slots
 * @param statistics what the values are, for each container of their slots
 */
public record PatchField(
    int id,
    ElementType type,
    Shape shape,
    Compression compression,
    long count,
    long absentCount,
    long valueBytes,
    SlotSet slots,
    Section entries,
    Section statistics) {

  ObjectNode write() {
    ObjectNode node = SealedJson.object();
    node.put("id", id);
    TypeJson.write(node, type, shape);
    FieldJson.write(node, compression);
    node.put("count", count).put("absent", absentCount).put("valueBytes", valueBytes);
    slots.write(node, "slots");
    entries.write(node, "entries");
    statistics.write(node, "statistics");
    return node;
  }

  static PatchField read(JsonObject json, long slotCount, long endBytes) {
    FieldJson.unreadable(json).ifPresent(unknown -> {
      throw unknown.exception(json.resource());
    });
    long count = json.integer("count", 1, Math.min(slotCount, Integer.MAX_VALUE));
    PatchField field = new PatchField(
        (int) json.integer("id", 1, Integer.MAX_VALUE),
        TypeJson.read(json),
        TypeJson.shape(json),
        FieldJson.compression(json),
        count,
        json.integer("absent", 0, count),
        json.integer("valueBytes", 0, Long.MAX_VALUE),
        SlotSet.readPresent(json, "slots", endBytes),
        Section.read(json, "entries", endBytes),
        Section.read(json, "statistics", endBytes));
    if (field.entries.bytes() != EntryUnits.bytes(count)) {
      throw json.corrupt("field " + field.id + " has " + field.entries.bytes()
          + " bytes of entries for " + count + " values");
    }
    return field;
  }
}
