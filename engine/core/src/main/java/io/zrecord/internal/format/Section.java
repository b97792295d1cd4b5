package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * A part of a tables file. In JSON it is {@code [position, bytes]}.
 *
 * @param position of the first byte, a multiple of {@value #ALIGNMENT} from 64 on
 * @param bytes length; 0 only in {@link #NONE}
 */
public record Section(long position, long bytes) {
  /** Positions of sections are multiples of this. */
  public static final int ALIGNMENT = 64;

  /** Stands for a section that the file does not have. */
  public static final Section NONE = new Section(0, 0);

  public boolean isPresent() {
    return bytes > 0;
  }

  /** Returns the position after the last byte. */
  public long end() {
    return position + bytes;
  }

  /** Writes the member, unless the section is missing. */
  void write(ObjectNode node, String name) {
    if (isPresent()) {
      writeTuple(node, name);
    }
  }

  ArrayNode writeTuple(ObjectNode node, String name) {
    return node.putArray(name).add(position).add(bytes);
  }

  /**
   * Reads a member, which may be missing.
   *
   * @param endBytes where sections end in the file
   */
  static Section read(JsonObject json, String name, long endBytes) {
    return json.has(name) ? read(JsonTuple.of(json, name, 2, 2), endBytes) : NONE;
  }

  static Section read(JsonTuple tuple, long endBytes) {
    long position = tuple.integer(0, FileHeader.BYTES, endBytes);
    long bytes = tuple.integer(1, 1, endBytes - position);
    if (position % ALIGNMENT != 0) {
      throw tuple.corrupt("a position that is a multiple of " + ALIGNMENT);
    }
    return new Section(position, bytes);
  }
}
