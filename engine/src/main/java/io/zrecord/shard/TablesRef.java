package io.zrecord.shard;

import java.io.Serializable;
import java.util.List;
import java.util.UUID;

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
 */
public record TablesRef(
    UUID id, long bytes, long jsonPosition, int jsonBytes, int jsonChecksum, List<Integer> fieldIds)
    implements Serializable {

  public TablesRef {
    fieldIds = List.copyOf(fieldIds);
  }

  /** Returns the name of the file within the shard's directory. */
  public String fileName() {
    return id + ".tables";
  }
}
