package io.zrecord.inspect;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * A file of a dataset.
 *
 * @param name relative to the dataset
 * @param kind what the file holds
 * @param shard the shard of the file, if the file belongs to a shard
 * @param lengthBytes length of the file; empty if the file is missing
 */
public record DatasetFile(String name, Kind kind, Optional<UUID> shard, OptionalLong lengthBytes) {

  /** The content of a file. */
  public enum Kind {
    /** A version of a table. */
    MANIFEST,
    /** A list of the shards of versions. */
    LIST,
    /** Values. */
    CHUNK,
    /** The places, checksums and presence of values. */
    TABLES,
    /** What was deleted and changed in a shard since its tables were written. */
    PATCH
  }
}
