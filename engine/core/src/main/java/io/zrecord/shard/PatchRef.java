package io.zrecord.shard;

import java.io.Serializable;
import java.util.UUID;

/**
 * Names the patch of a shard: what was deleted and changed since its tables files were written
 * (FORMAT.md section 7). Immutable.
 *
 * @param id identity of the file; its name in the shard's directory is {@code <id>.patch}
 * @param bytes length of the file
 * @param jsonPosition position of the JSON in the file
 * @param jsonBytes length of the JSON
 * @param jsonChecksum the {@code crc32c} member of the JSON
 * @param slots number of values that each field has in the tables, those of deleted records
 *     included
 */
public record PatchRef(
    UUID id, long bytes, long jsonPosition, int jsonBytes, int jsonChecksum, long slots)
    implements Serializable {

  /** Most bytes of a patch. If it would have more, fields get tables files instead. */
  public static final int MOST_BYTES = 4 << 20;

  /** Most chunks of a patch. */
  public static final int MOST_CHUNKS = 64;

  /** Returns the name of the file within the shard's directory. */
  public String fileName() {
    return id + ".patch";
  }
}
