package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding.Kind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Says where a tables file has {@link Origins} (FORMAT.md section 7.8).
 *
 * @param shards the shards where records were
 * @param slots the slots of these records, a ranked bitmap
 * @param places where each of them was
 */
public record OriginsRef(List<UUID> shards, SlotSet slots, SlotSet places) {
  /** As many as fit into the JSON of a tables file. */
  private static final int MOST_SHARDS = 1 << 20;

  public OriginsRef {
    shards = List.copyOf(shards);
  }

  void write(ObjectNode owner) {
    ObjectNode node = owner.putObject("origins");
    ArrayNode array = node.putArray("shards");
    shards.forEach(shard -> array.add(shard.toString()));
    slots.write(node, "slots");
    places.write(node, "places");
  }

  static OriginsRef read(JsonObject json, long endBytes) {
    JsonTuple tuple = JsonTuple.of(json, "shards", 1, MOST_SHARDS);
    List<UUID> shards = new ArrayList<>();
    for (int i = 0; i < tuple.size(); i++) {
      shards.add(tuple.uuid(i));
    }
    return new OriginsRef(
        shards,
        SlotSet.readPresent(json, "slots", endBytes),
        SlotSet.readPresent(json, "places", endBytes));
  }

  /** Returns the checksum of a section, bound to the file. */
  public static int checksum(UUID fileId, Kind kind, byte[] section) {
    return new Binding(fileId, 0).bind(kind, 0, Crc32c.of(section));
  }

  /**
   * Decodes the sections.
   *
   * @param path of the file, for messages
   * @param length number of slots of the shard
   * @throws CorruptDataException if the bytes are damaged, or are no origins of slots of the shard
   */
  public Origins decode(
      String path, UUID fileId, byte[] slotsSection, byte[] placesSection, long length) {
    boolean isIntact = checksum(fileId, Kind.CHANGED_SINCE, slotsSection) == slots.checksum()
        && checksum(fileId, Kind.ORIGINS, placesSection) == places.checksum();
    RankedBitmap set = isIntact
        ? RankedBitmap.decode(ByteBuffer.wrap(slotsSection).order(ByteOrder.LITTLE_ENDIAN), length)
        : null;
    Optional<Origins> origins =
        set == null ? Optional.empty() : Origins.decode(shards, set, placesSection);
    return origins.orElseThrow(() -> new CorruptDataException(
        path,
        "Cannot read " + path + ": what it says at " + slots.section().position()
            + " of where its records were is damaged. Restore it from a copy"));
  }
}
