package io.zrecord.shard;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * Names a tables file of a shard, and says where its JSON is and which checksum the JSON has
 * (FORMAT.md section 7). Immutable.
 *
 * @param id identity of the file; its name in the shard's directory is {@code <id>.tables}
 * @param bytes length of the file
 * @param jsonPosition position of the JSON in the file
 * @param jsonBytes length of the JSON
 * @param jsonChecksum the {@code crc32c} member of the JSON
 * @param fieldIds the fields that have tables in the file, in rising order
 * @param writtenFields digest of these fields as their writer knew them, by
 *     {@link io.zrecord.schema.RecordSchema#digest}; 0 if not known, as of a file that a manifest
 *     names. No part of the identity: a commit compares it, and no manifest has it
 */
public record TablesRef(
    UUID id,
    long bytes,
    long jsonPosition,
    int jsonBytes,
    int jsonChecksum,
    List<Integer> fieldIds,
    long writtenFields)
    implements Serializable {

  public TablesRef {
    fieldIds = List.copyOf(fieldIds);
  }

  /** Names a tables file of which is not known how its writer knew the fields. */
  public TablesRef(
      UUID id,
      long bytes,
      long jsonPosition,
      int jsonBytes,
      int jsonChecksum,
      List<Integer> fieldIds) {
    this(id, bytes, jsonPosition, jsonBytes, jsonChecksum, fieldIds, 0);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TablesRef that
        && id.equals(that.id)
        && bytes == that.bytes
        && jsonPosition == that.jsonPosition
        && jsonBytes == that.jsonBytes
        && jsonChecksum == that.jsonChecksum
        && fieldIds.equals(that.fieldIds);
  }

  @Override
  public int hashCode() {
    return 31 * id.hashCode() + jsonChecksum;
  }

  /** Returns the name of the file within the shard's directory. */
  public String fileName() {
    return id + ".tables";
  }

  /** Tells whether a field has tables in the file. */
  public boolean hasField(int fieldId) {
    return Collections.binarySearch(fieldIds, fieldId) >= 0;
  }

  private Object writeReplace() {
    List<Integer> ranges = new ArrayList<>();
    for (int i = 0; i < fieldIds.size(); i++) {
      if (i == 0 || fieldIds.get(i) != fieldIds.get(i - 1) + 1) {
        ranges.add(fieldIds.get(i));
        ranges.add(fieldIds.get(i));
      }
      ranges.set(ranges.size() - 1, fieldIds.get(i));
    }
    return new Message(
        id, bytes, jsonPosition, jsonBytes, jsonChecksum, List.copyOf(ranges), writtenFields);
  }

  /**
   * What a task's message has of a file: thousands of fields, which mostly have consecutive ids,
   * take a few bytes.
   *
   * @param ranges the first and the last id of each range of ids
   */
  private record Message(
      UUID id,
      long bytes,
      long jsonPosition,
      int jsonBytes,
      int jsonChecksum,
      List<Integer> ranges,
      long writtenFields)
      implements Serializable {

    private Object readResolve() {
      List<Integer> fieldIds = new ArrayList<>();
      for (int i = 0; i < ranges.size(); i += 2) {
        IntStream.rangeClosed(ranges.get(i), ranges.get(i + 1)).forEach(fieldIds::add);
      }
      return new TablesRef(
          id, bytes, jsonPosition, jsonBytes, jsonChecksum, fieldIds, writtenFields);
    }
  }
}
