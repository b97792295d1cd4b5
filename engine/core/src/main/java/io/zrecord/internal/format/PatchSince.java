package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Says what the commit of a patch changed (FORMAT.md section 3.3): a patch has what the patch
 * before it had as well. Values in tables files, such as those of a rewritten field, are not said
 * here.
 *
 * @param patch the patch before; empty if the shard had none, and then all that the patch has is of
 *     its commit, and nothing else is said here
 * @param deleted the slots that the commit deleted
 * @param fields the slots to which the commit gave values, absent ones included, by field id
 */
public record PatchSince(
    Optional<UUID> patch, SlotSet deleted, SortedMap<Integer, SlotSet> fields) {
  /** Says that the shard had no patch before. */
  public static final PatchSince BEGINNING =
      new PatchSince(Optional.empty(), SlotSet.NONE, Collections.emptySortedMap());

  public PatchSince {
    fields = Collections.unmodifiableSortedMap(new TreeMap<>(fields));
  }

  void write(ObjectNode owner) {
    ObjectNode node = owner.putObject("since");
    patch.ifPresent(before -> {
      node.put("patch", before.toString());
      deleted.write(node, "deleted");
      ArrayNode array = node.putArray("fields");
      fields.forEach((id, slots) -> slots.write(array.addObject().put("id", id), "slots"));
    });
  }

  /**
   * Reads the member, which a patch may lack.
   *
   * @param endBytes where sections end in the file
   */
  static Optional<PatchSince> read(JsonObject owner, long endBytes) {
    if (!owner.has("since")) {
      return Optional.empty();
    }
    JsonObject json = owner.object("since");
    if (!json.has("patch")) {
      return Optional.of(BEGINNING);
    }
    SortedMap<Integer, SlotSet> fields = new TreeMap<>();
    for (JsonObject field : json.objects("fields")) {
      int id = (int) field.integer("id", 1, Integer.MAX_VALUE);
      if (fields.put(id, SlotSet.readPresent(field, "slots", endBytes)) != null) {
        throw json.corrupt("field " + id + " is there twice");
      }
    }
    return Optional.of(new PatchSince(
        Optional.of(json.uuid("patch")), SlotSet.read(json, "deleted", endBytes), fields));
  }
}
