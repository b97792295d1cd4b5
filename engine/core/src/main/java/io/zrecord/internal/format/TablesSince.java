package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Says to which slots the commit of a tables file gave values (FORMAT.md section 3.2), where a
 * change of records gave a field so many that a patch does not have them. Immutable.
 *
 * @param fields the slots by field id, none of them in an empty set; a field that is missing here
 *     got values in all slots
 */
public record TablesSince(SortedMap<Integer, SlotSet> fields) {
  /** Says that all fields got values in all slots. */
  public static final TablesSince ALL_SLOTS = new TablesSince(Collections.emptySortedMap());

  public TablesSince {
    fields = Collections.unmodifiableSortedMap(new TreeMap<>(fields));
  }

  void write(ObjectNode owner) {
    if (!fields.isEmpty()) {
      ArrayNode array = owner.putObject("since").putArray("fields");
      fields.forEach((id, slots) -> slots.write(array.addObject().put("id", id), "slots"));
    }
  }

  /**
   * Reads the member, which a tables file may lack.
   *
   * @param endBytes where sections end in the file
   */
  static TablesSince read(JsonObject owner, long endBytes) {
    if (!owner.has("since")) {
      return ALL_SLOTS;
    }
    JsonObject json = owner.object("since");
    SortedMap<Integer, SlotSet> fields = new TreeMap<>();
    for (JsonObject field : json.objects("fields")) {
      int id = (int) field.integer("id", 1, Integer.MAX_VALUE);
      if (fields.put(id, SlotSet.read(field, "slots", endBytes)) != null) {
        throw json.corrupt("field " + id + " is there twice");
      }
    }
    return new TablesSince(fields);
  }

  /**
   * Decodes the slots of a field.
   *
   * @param path of the file, for messages
   * @param section the bytes of the section
   * @param binding of the file and the field
   * @param length number of slots of the shard
   * @throws CorruptDataException if the bytes are damaged, or are no slots of the shard
   */
  public static RankedBitmap decode(
      String path, byte[] section, SlotSet set, Binding binding, long length) {
    Optional<RankedBitmap> slots =
        binding.bind(Binding.Kind.CHANGED_SINCE, 0, Crc32c.of(section)) == set.checksum()
            ? Optional.ofNullable(RankedBitmap.decode(
                ByteBuffer.wrap(section).order(ByteOrder.LITTLE_ENDIAN), length))
            : Optional.empty();
    return slots.orElseThrow(() -> new CorruptDataException(
        path,
        "Cannot read " + path + ": the slots at " + set.section().position()
            + " to which its commit gave values are damaged. Restore it from a copy"));
  }
}
