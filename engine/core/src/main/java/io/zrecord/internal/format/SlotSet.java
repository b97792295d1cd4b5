package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import java.util.HexFormat;

/**
 * Says where a patch has a set of slots, a {@link RankedBitmap} (FORMAT.md section 3.3). In JSON it
 * is {@code [position, bytes, checksum]}.
 *
 * @param section where the set is; {@link Section#NONE} if it is empty
 * @param checksum checksum of that section, bound to the patch; 0 if the set is empty
 */
public record SlotSet(Section section, int checksum) {
  /** The empty set, which takes no bytes. */
  public static final SlotSet NONE = new SlotSet(Section.NONE, 0);

  /** Most bytes of a set, which is read at once: 2³¹ slots that are all in the set. */
  private static final int MOST_BYTES = 1 << 28;

  public boolean isPresent() {
    return section.isPresent();
  }

  /**
   * Returns the length of the section.
   *
   * @param path of the file, for messages
   * @throws CorruptDataException if no set of slots has that length
   */
  public int sectionBytes(String path) {
    if (section.bytes() > MOST_BYTES) {
      throw new CorruptDataException(
          path,
          "Cannot read " + path + ": its slots at " + section.position() + " have "
              + section.bytes() + " bytes, more than the " + MOST_BYTES
              + " that this release reads. Restore it from a copy");
    }
    return (int) section.bytes();
  }

  /** Writes the member, unless the set is empty. */
  void write(ObjectNode node, String name) {
    if (isPresent()) {
      ArrayNode tuple = section.writeTuple(node, name);
      tuple.add(HexFormat.of().toHexDigits(checksum));
    }
  }

  /**
   * Reads a member, which is missing if the set is empty.
   *
   * @param endBytes where sections end in the file
   */
  static SlotSet read(JsonObject json, String name, long endBytes) {
    return json.has(name) ? readPresent(json, name, endBytes) : NONE;
  }

  /** Reads a member of a set that is not empty. */
  static SlotSet readPresent(JsonObject json, String name, long endBytes) {
    JsonTuple tuple = JsonTuple.of(json, name, 3, 3);
    return new SlotSet(Section.read(tuple, endBytes), tuple.checksum(2));
  }
}
