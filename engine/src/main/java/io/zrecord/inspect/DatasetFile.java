package io.zrecord.inspect;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * A file of a dataset.
 *
 * @param name relative to the dataset
 * @param kind what it holds
 * @param shard the shard that it belongs to, if it does
 * @param lengthBytes its length; empty if it is missing
 */
public record DatasetFile(String name, Kind kind, Optional<UUID> shard, OptionalLong lengthBytes) {

  /** What a file holds. */
  public enum Kind {
    /** A version. */
    MANIFEST,
    /** Shards of versions. */
    LIST,
    /** What a shard has. */
    META,
    /** Values. */
    CHUNK,
    /** Where the values of a field are. */
    ENTRIES,
    /** Their checksums. */
    CHECKSUMS,
    /** Where the values of a dense field are. */
    RUNS,
    /** Which values of a dense field are present. */
    VALIDITY
  }
}
