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
import org.jspecify.annotations.Nullable;

/**
 * Says what the commit of a tables file did (FORMAT.md sections 7.6 and 7.8). A change of records
 * may give a field too many values for a patch; then this has the slots that got one. A new shard
 * may have records of other shards; then this says where they were. Immutable.
 *
 * @param fields the slots by field id, none of them in an empty set; a field that is missing here
 *     got values in all slots
 * @param origins where records were that the commit has put into this shard; empty if nowhere
 */
public record TablesSince(SortedMap<Integer, SlotSet> fields, Optional<OriginsRef> origins) {
  /** Says that all fields got values in all slots, and that no record was in another shard. */
  public static final TablesSince ALL_SLOTS =
      new TablesSince(Collections.emptySortedMap(), Optional.empty());

  /** Each takes 8 bytes of memory. */
  private static final int MOST_SLOTS = 1 << 28;

  public TablesSince {
    fields = Collections.unmodifiableSortedMap(new TreeMap<>(fields));
  }

  /** Returns the member; empty if there is nothing to say. */
  Optional<ObjectNode> write() {
    if (fields.isEmpty() && origins.isEmpty()) {
      return Optional.empty();
    }
    ObjectNode node = SealedJson.object();
    ArrayNode array = node.putArray("fields");
    fields.forEach((id, slots) -> slots.write(array.addObject().put("id", id), "slots"));
    origins.ifPresent(ref -> ref.write(node));
    return Optional.of(node);
  }

  /**
   * Reads the member.
   *
   * @param json null if the file lacks the member
   * @param endBytes where sections end in the file
   */
  static TablesSince read(@Nullable JsonObject json, long endBytes) {
    if (json == null) {
      return ALL_SLOTS;
    }
    SortedMap<Integer, SlotSet> fields = new TreeMap<>();
    for (JsonObject field : json.objects("fields")) {
      int id = (int) field.integer("id", 1, Integer.MAX_VALUE);
      if (fields.put(id, SlotSet.read(field, "slots", endBytes)) != null) {
        throw json.corrupt("field " + id + " is there twice");
      }
    }
    return new TablesSince(
        fields,
        json.has("origins")
            ? Optional.of(OriginsRef.read(json.object("origins"), endBytes))
            : Optional.empty());
  }

  /**
   * Decodes the slots of a field.
   *
   * @param path of the file, for messages
   * @param section the bytes of the section
   * @param binding of the file and the field
   * @param length number of slots of the shard
   * @throws CorruptDataException if the bytes are damaged, are no slots of the shard, or are more
   *     than this release reads
   */
  public static RankedBitmap decode(
      String path, byte[] section, SlotSet set, Binding binding, long length) {
    Optional<RankedBitmap> slots =
        binding.bind(Binding.Kind.CHANGED_SINCE, 0, Crc32c.of(section)) == set.checksum()
            ? Optional.ofNullable(RankedBitmap.decode(
                ByteBuffer.wrap(section).order(ByteOrder.LITTLE_ENDIAN), length))
            : Optional.empty();
    return slots
        .filter(found -> found.count() <= MOST_SLOTS)
        .orElseThrow(() -> new CorruptDataException(
            path,
            "Cannot read " + path + ": the slots at " + set.section().position()
                + " to which its commit gave values are damaged, or more than " + MOST_SLOTS
                + ". Restore it from a copy"));
  }
}
